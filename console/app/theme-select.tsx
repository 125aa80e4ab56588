import { useState } from "react";
import { inputLook } from "../parts/field.tsx";
import { text } from "./strings.ts";
import { chooseTheme, storedTheme, themes } from "./theme.ts";

export function ThemeSelect() {
  const [theme, setTheme] = useState(storedTheme);
  return (
    <select
      aria-label={text.theme}
      value={theme}
      onChange={(event) => {
        const chosen = themes.find((each) => each === event.target.value) ?? "system";
        setTheme(chosen);
        chooseTheme(chosen);
      }}
      className={inputLook}
    >
      {themes.map((each) => (
        <option key={each} value={each}>
          {text.themes[each]}
        </option>
      ))}
    </select>
  );
}
