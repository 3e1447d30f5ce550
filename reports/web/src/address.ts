// The user's choices on a page, held in the fragment of its address: a link shows the same, and
// the browser's back button takes a choice back. "#changes", without "=", is a place on the page as
// everywhere; the choice `at` names a place beside others.

export class Address<Key extends string> {
  private typed: Key | undefined;

  /** `changed` is called when the address has changed by anything but `choose`. */
  constructor(
    private readonly keys: readonly Key[],
    changed: () => void,
  ) {
    const moved = () => {
      this.typed = undefined;
      changed();
    };
    addEventListener("popstate", moved);
    addEventListener("hashchange", moved);
  }

  /** Empty for what is not chosen. */
  read(): Record<Key | "at", string> {
    const fragment = location.hash.slice(1);
    const chosen = new URLSearchParams(fragment.includes("=") ? fragment : { at: decode(fragment) });
    const entries = [...this.keys, "at"].map((key) => [key, chosen.get(key) ?? ""]);
    return Object.fromEntries(entries) as Record<Key | "at", string>;
  }

  /** A new entry in the browser's history; what is typed into one field is one entry. */
  choose(changes: Partial<Record<Key | "at", string>>, typing?: Key): void {
    const chosen = { ...this.read(), at: "", ...changes };
    const given = Object.entries<string>(chosen).filter(([, value]) => value !== "");
    const fragment = given.length > 0 ? `#${new URLSearchParams(given)}` : "";
    if (fragment === location.hash) return;
    const address = fragment === "" ? location.pathname + location.search : fragment;
    if (typing !== undefined && typing === this.typed) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.typed = typing;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
