// The switch between light and dark, and the colours of pictures. Paper is always light.

export interface Colours {
  ink: string;
  soft: string;
  line: string;
  card: string;
  /** Colours of series by Okabe and Ito, distinguishable by the colour-blind; light ones on dark. */
  series: string[];
  /** Colours for worse than, equal to, and better than the baseline. */
  diverging: [string, string, string];
  /** Colours from low to high values. */
  sequential: [string, string];
}

const on_light = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#5b3a8e", "#555555"];
const on_dark = ["#56b4e9", "#f08a3c", "#2fc79a", "#e59ac4", "#f0e442", "#8fa8ff", "#c9a6ff", "#bbbbbb"];

const printing = matchMedia("print");
const prefers_dark = matchMedia("(prefers-color-scheme: dark)");

type Choice = "auto" | "light" | "dark";
const choices: Choice[] = ["auto", "light", "dark"];
const key = "parbench-theme";

function isDark(): boolean {
  if (printing.matches) return false;
  const choice = document.documentElement.dataset["theme"];
  return choice === undefined ? prefers_dark.matches : choice === "dark";
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  const dark = isDark();
  return {
    ink: of("--ink"),
    soft: of("--soft"),
    line: of("--line"),
    card: of("--card"),
    series: dark ? on_dark : on_light,
    diverging: dark ? ["#c8641b", "#39434d", "#3f8fd0"] : ["#e08a4a", "#f5f5f2", "#5aa2d8"],
    sequential: dark ? ["#26303a", "#3f8fd0"] : ["#f2f6fa", "#5aa2d8"],
  };
}

export function isPrinting(): boolean {
  return printing.matches;
}

/** Calls back after every change of colours. */
export function onThemeChange(changed: () => void): void {
  document.addEventListener("parbench-theme", changed);
  prefers_dark.addEventListener("change", changed);
  printing.addEventListener("change", changed);
}

function remembered(): Choice {
  try {
    return choices.find((choice) => choice === localStorage.getItem(key)) ?? "auto";
  } catch {
    return "auto"; // pages from disk may have no storage
  }
}

function apply(choice: Choice): void {
  if (choice === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = choice;
  document.dispatchEvent(new Event("parbench-theme"));
}

export function addThemeSwitch(parent: HTMLElement, makeSwitch: MakeSwitch): void {
  const chosen = remembered();
  apply(chosen);
  const element = makeSwitch("Colours", choices, chosen, (choice) => {
    try {
      localStorage.setItem(key, choice);
    } catch {
      // Without storage, the choice applies to this visit only.
    }
    apply(choice);
  });
  parent.append(element);
}

type MakeSwitch = <T extends string>(
  label: string,
  options: readonly T[],
  chosen: T,
  onChange: (option: T) => void,
) => HTMLElement;
