// Finds the bar to which an arrow key leads.
import type { Panel } from "./layout";
import type { Span } from "./model";

/** Left and right: the next bar on the lane. Up and down: the nearest in time on the next lane with bars. */
export function neighbour({ timeline, lanes }: Panel, span: Span, key: string): Span | undefined {
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const own = timeline.onLane(span.lane);
    return own[own.indexOf(span) + (key === "ArrowLeft" ? -1 : 1)];
  }
  const down = key === "ArrowDown";
  const order = lanes.map((top, lane) => ({ top, lane })).sort((a, b) => (down ? a.top - b.top : b.top - a.top));
  const own = order.findIndex(({ lane }) => lane === span.lane);
  for (const { lane } of order.slice(own + 1)) {
    const nearest = nearestTo((span.begin + span.end) / 2, timeline.onLane(lane));
    if (nearest) return nearest;
  }
  return undefined;
}

function nearestTo(time: number, spans: Span[]): Span | undefined {
  const distance = ({ begin, end }: Span) => Math.max(begin - time, time - end, 0);
  let nearest: Span | undefined;
  for (const span of spans) if (!nearest || distance(span) < distance(nearest)) nearest = span;
  return nearest;
}
