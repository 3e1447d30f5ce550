// Keeps the user's choices on a page in the fragment of its address: a link shows the same choices, and
// the browser's back button undoes one. "#changes", without "=", is an element of the page as usual;
// the choice `at` names such an element in addition to other choices.

export class Address<Key extends string> {
  private typed: Key | undefined;

  /** `changed` is called after every change of the address except by `choose`. */
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

  /** Returns the choices; an empty text for each choice that is not made. */
  read(): Record<Key | "at", string> {
    const fragment = location.hash.slice(1);
    const chosen = new URLSearchParams(fragment.includes("=") ? fragment : { at: decode(fragment) });
    const entries = [...this.keys, "at"].map((key) => [key, chosen.get(key) ?? ""]);
    return Object.fromEntries(entries) as Record<Key | "at", string>;
  }

  /** Adds an entry to the browser's history; text typed into one field is one entry. */
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
