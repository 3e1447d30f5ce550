// The visible part of a time axis, and its ticks. Independent of pixels except for their number.

/** Min visible share of the whole time. */
const closest = 1e-6;

export interface Tick {
  time: number;
  label: string;
}

export class TimeWindow {
  from = 0;
  to = 1;
  private total = 1;

  /** Shows all of a time, in seconds. */
  reset(total: number): void {
    this.total = total > 0 ? total : 1;
    this.from = 0;
    this.to = this.total;
  }

  get length(): number {
    return this.to - this.from;
  }

  get isWhole(): boolean {
    return this.length >= this.total * (1 - 1e-9);
  }

  /** A factor above 1 shows more detail; the time `fixed` stays at its position. */
  zoom(factor: number, fixed = (this.from + this.to) / 2): void {
    const length = Math.min(this.total, Math.max(this.total * closest, this.length / factor));
    this.show(fixed - ((fixed - this.from) / this.length) * length, length);
  }

  /** Moves by a number of seconds, within the whole time. */
  pan(seconds: number): void {
    this.show(this.from + seconds, this.length);
  }

  /** Moves as little as possible to show a time span, or its beginning if it is longer. */
  reveal(begin: number, end: number): void {
    const margin = 0.1 * this.length;
    if (begin < this.from) this.show(begin - margin, this.length);
    else if (end > this.to) this.show(Math.min(begin - margin, end + margin - this.length), this.length);
  }

  /** Returns at most about `max` ticks at 1, 2 or 5 times a power of ten, with one unit. */
  ticks(max: number): Tick[] {
    const interval = niceInterval(this.length / Math.max(1, max));
    const [size, unit] = unitOf(this.to);
    const decimals = Math.max(0, Math.ceil(-Math.log10(interval / size) - 1e-9));
    const ticks: Tick[] = [];
    for (let i = Math.ceil(this.from / interval); i * interval <= this.to; ++i) {
      const number = ((i * interval) / size).toFixed(decimals);
      ticks.push({ time: i * interval, label: i === 0 ? "0" : `${number} ${unit}` });
    }
    return ticks;
  }

  private show(from: number, length: number): void {
    this.from = Math.min(Math.max(0, from), this.total - length);
    this.to = this.from + length;
  }
}

function niceInterval(min: number): number {
  const power = 10 ** Math.floor(Math.log10(min));
  return power * ([1, 2, 5].find((factor) => factor * power >= min) ?? 10);
}

function unitOf(seconds: number): [number, string] {
  if (seconds >= 1) return [1, "s"];
  if (seconds >= 1e-3) return [1e-3, "ms"];
  return seconds >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"];
}
