export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "headwater-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export function storedTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((theme) => theme === stored) ?? "system";
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  applyTheme();
}

/** Sets the theme of the page, and follows that of the system. */
export function applyTheme(): void {
  const theme = storedTheme();
  document.documentElement.dataset["theme"] = theme === "system" ? (prefersDark.matches ? "dark" : "light") : theme;
}

prefersDark.addEventListener("change", applyTheme);
