import { useEffect, useRef } from "react";

interface Shortcuts {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** `/` focuses the page's search field, `?` shows the help, Ctrl or Command K the palette. Not while a person types. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        latest.current.onPalette();
      } else if (!isTyping(event) && event.key === "?") latest.current.onHelp();
      else if (!isTyping(event) && event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("[data-search]");
        if (field === null) return;
        event.preventDefault();
        field.focus();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.shadowRoot !== null || /^(input|textarea|select)$/i.test(target.tagName))
  );
}
