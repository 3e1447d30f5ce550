// Facts about a task: in a tooltip, and below the picture while it is marked.
import { element } from "../controls";
import { duration, rate, short } from "../measures";
import { type Cause, type Span, type Timeline, bar_names } from "./model";

/** Max number of tasks that are named; others are counted. */
const max_named = 4;

/** Returns facts as elements, so that text of a report is never read as markup. */
export function factsOf(timeline: Timeline, span: Span): HTMLDListElement {
  const list = element("dl", { class: "hover" });
  const add = (name: string, text: string) => list.append(element("dt", {}, name), element("dd", {}, text));
  add("task", span.name);
  add("kind", `${bar_names[span.colour]} on ${timeline.lanes[span.lane]}`);
  add("begins", `at ${duration(span.begin, 5)}`);
  add("takes", duration(span.end - span.begin, 4));
  const [flops_peak, bytes_peak] = timeline.peaksOf(span);
  if (span.flops > 0) add("computes", rateText(span, span.flops, "FLOP", flops_peak));
  if (span.bytes > 0) add("moves", rateText(span, span.bytes, "B", bytes_peak));
  const dependencies = timeline.dependenciesOf(span.task);
  add("waits for", dependencies.length > 0 ? namesOf(timeline, dependencies) : "no other task");
  const cause = timeline.causeOf(span);
  add("waited last for", causeText(cause, span));
  return list;
}

/** Returns "at 118 GFLOP/s, 55% of the device's peak". */
function rateText({ begin, end }: Span, amount: number, unit: string, peak: number | null): string {
  if (end <= begin) return "in no measurable time";
  const achieved = amount / (end - begin);
  const text = `at ${rate(achieved, unit)}`;
  if (!peak) return text;
  const share = `${text}, ${short((100 * achieved) / peak, 2)}% of the device's peak`;
  return achieved > peak ? `${share} (a cache is faster; Winograd's algorithm needs fewer FLOPs)` : share;
}

function namesOf(timeline: Timeline, tasks: number[]): string {
  const named = tasks.slice(0, max_named).map((task) => timeline.spansOf(task)[0]?.name);
  const others = tasks.length - named.length;
  return named.join("; ") + (others > 0 ? `; ${others} more` : "");
}

/** Returns "the host, which enqueued it at 12.3 µs; it began 4 µs later". */
function causeText({ what, span, until }: Cause, of: Span): string {
  const at = duration(until, 5);
  const text = {
    host: `the host, which enqueued it at ${at}`,
    task: `“${span?.name}”, which ended at ${at}`,
    lane: `“${span?.name}” before it on its stream, which ended at ${at}`,
  }[what];
  return of.begin > until ? `${text}; it began ${duration(of.begin - until, 3)} later` : text;
}

/** Returns the facts with buttons for the tasks that this task waits for and those that wait for it. */
export function linkedFacts(timeline: Timeline, span: Span, mark: (span: Span) => void): HTMLElement {
  const links = (title: string, tasks: number[]) => {
    if (tasks.length === 0) return [];
    const buttons = tasks.slice(0, max_named).flatMap((task) => {
      const target = timeline.spansOf(task)[0];
      if (!target) return [];
      const button = element("button", { type: "button" }, target.name);
      button.addEventListener("click", () => mark(target));
      return [button];
    });
    const others = tasks.length - buttons.length;
    return [element("p", { class: "links" }, title, ...buttons, others > 0 ? `and ${others} more` : "")];
  };
  return element(
    "div",
    {},
    factsOf(timeline, span),
    ...links("Waits for", timeline.dependenciesOf(span.task)),
    ...links("Needed by", timeline.dependentsOf(span.task)),
  );
}
