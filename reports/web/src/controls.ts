// Creates the controls of the page from elements that keyboards and screen readers support.

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Creates a row of buttons of which one is pressed. */
export function makeSwitch<T extends string>(
  label: string,
  options: readonly T[],
  chosen: T,
  onChange: (option: T) => void,
): HTMLElement {
  const group = element("div", { class: "switch", role: "group", "aria-label": label });
  for (const option of options) {
    const button = element("button", { type: "button", "aria-pressed": String(option === chosen) }, option);
    button.addEventListener("click", () => {
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
      onChange(option);
    });
    group.append(button);
  }
  return group;
}

export function makeSelect(
  label: string,
  options: readonly string[],
  chosen: string,
  onChange: (option: string) => void,
): HTMLElement {
  const select = element("select");
  for (const option of options) select.append(element("option", { value: option }, option));
  select.value = chosen;
  select.addEventListener("change", () => onChange(select.value));
  return element("label", {}, label, select);
}
