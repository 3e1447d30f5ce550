// The data of a history page for its pictures, written by reports/dashboard/pages/history_page.cpp.

export interface Reports {
  /** Seconds since 1970, ascending. */
  started: number[];
  /** Readable name; "–" if unknown. */
  commit: string[];
  /** Addresses relative to the page. */
  page: string[];
}

export interface Change {
  /** Index of the first report with the new level, in the lists of the case. */
  at: number;
  slower: boolean;
  text: string;
}

/** The history of a case: lists of equal lengths; times in seconds. */
export interface CaseHistory {
  /** Id of the case's section; also `data-case` of the case's rows. */
  id: string;
  name: string;
  strategy: string;
  /** Indices of the reports with a number for the case. */
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

/** Returns the history; undefined on other pages. */
export function readHistory(): History | undefined {
  const text = document.getElementById("parbench-history")?.textContent;
  return text ? (JSON.parse(text) as History) : undefined;
}

/** Returns "2026-11-21 19:57", in UTC as on the rest of the page. */
export function timeText(seconds: number): string {
  return new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");
}
