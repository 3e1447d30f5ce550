// Defers expensive elements until they are about to be seen.

/** Calls back once, when an element comes near the screen or is printed while it is laid out. */
export function whenNear(element: HTMLElement, make: () => void): void {
  const start = () => {
    if (element.clientWidth === 0) return;
    seen.disconnect();
    removeEventListener("beforeprint", start);
    make();
  };
  const seen = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) start();
    },
    { rootMargin: "400px" },
  );
  seen.observe(element);
  addEventListener("beforeprint", start);
}
