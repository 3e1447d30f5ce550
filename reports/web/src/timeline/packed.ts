// Reads the numbers that reports/views/html/packed_numbers.h writes.

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Map([...digits].map((digit, value) => [digit, value]));

export class PackedReader {
  private at = 0;

  constructor(private readonly text: string) {}

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  /** Returns the next number. Does not use shifts, which have 32 bits, because numbers may have more. */
  next(): number {
    let number = 0;
    for (let power = 1; ; power *= 32) {
      const digit = values.get(this.text[this.at++] ?? "") ?? 0;
      number += (digit % 32) * power;
      if (digit < 32) return number;
    }
  }

  nextSigned(): number {
    const number = this.next();
    return number % 2 === 0 ? number / 2 : -(number - 1) / 2;
  }
}
