// What the page of a history holds for its pictures: written by reports/dashboard/pages/history_page.cpp.

export interface Reports {
  /** Seconds since 1970, in the order of time. */
  started: number[];
  /** As people read it; "–" where it is not known. */
  commit: string[];
  /** Addresses, relative to the page. */
  page: string[];
}

export interface Change {
  /** The place, in the case's lists, of the first report with the new level. */
  at: number;
  slower: boolean;
  text: string;
}

/** Lists of equal lengths; times in seconds. */
export interface CaseHistory {
  /** Of its section, and of its rows as `data-case`. */
  id: string;
  name: string;
  strategy: string;
  /** Places of the reports that have a number of it. */
  at: number[];
  median: number[];
  low: (number | null)[];
  high: (number | null)[];
  changes: Change[];
}

export interface History {
  scenario: string;
  reports: Reports;
  cases: CaseHistory[];
}

/** Nothing on pages of another kind. */
export function readHistory(): History | undefined {
  const text = document.getElementById("parbench-history")?.textContent;
  return text ? (JSON.parse(text) as History) : undefined;
}

/** "2026-11-21 19:57", in UTC as on the rest of the page. */
export function timeText(seconds: number): string {
  return new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");
}
