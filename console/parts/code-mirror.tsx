import { autocompletion, completeFromList } from "@codemirror/autocomplete";
import { javascript, javascriptLanguage } from "@codemirror/lang-javascript";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { useEffect, useRef } from "react";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import type { CodeEditorProps, CodeProblem } from "./code-editor-props.ts";

/** The interface of components: what `this`, props and exports have. */
const completions = completeFromList(
  [
    ["this.$emit", "(event, { id, summary, name, ts })", "emits an event"],
    ["this.db.get", "(key)", "reads a stored value"],
    ["this.db.set", "(key, value)", "stores a value"],
    ["this.http.respond", "({ status, headers, body })", "responds to the HTTP request"],
    ["$.service.db", "", "type of the prop that stores values"],
    ["$.interface.timer", "", "type of a timer"],
    ["$.interface.http", "", "type of an HTTP endpoint"],
    ["customResponse", ": true", "the component responds to HTTP requests itself"],
    ["dedupe", ': "unique"', "drops events whose id was emitted before: unique, greatest or last"],
    ["props", ": {}", "inputs of the component"],
    [
      "hooks",
      ": { async deploy() {}, async activate() {}, async deactivate() {} }",
      "run when the source is deployed, activated and deactivated",
    ],
    ["run", "(event) {}", "runs on each trigger"],
    ["secret", ": true", "the value is never shown again"],
    ["reloadProps", ": true", "additionalProps() is called when the value changes"],
  ].map(([label = "", detail = "", info = ""]) => ({ label, detail, info, type: "property" })),
);

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--color-accent)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--color-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--color-warn)" },
  { tag: tags.comment, color: "var(--color-muted)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--color-bad)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--color-surface)", color: "var(--color-text)" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", minHeight: "16rem", maxHeight: "60dvh" },
  ".cm-gutters": { backgroundColor: "var(--color-page)", color: "var(--color-muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-cursor": { borderLeftColor: "var(--color-text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--color-accent-soft)",
  },
  ".cm-tooltip": { backgroundColor: "var(--color-raised)", color: "var(--color-text)", border: "1px solid var(--color-line)" },
  ".cm-panels": { backgroundColor: "var(--color-raised)", color: "var(--color-text)" },
});

/** CodeMirror in a shadow root: there its styles are constructed style sheets, which the page's policy allows. */
export default function CodeMirrorEditor({
  label,
  value,
  onChange,
  problems = [],
  isReadOnly = false,
  original,
  language = "javascript",
}: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const diff = useRef(new Compartment());
  const latest = useRef({ onChange, value });
  useEffect(() => {
    latest.current = { onChange, value };
  });
  useEffect(() => {
    if (host.current === null) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const extensions: Extension[] = [
      basicSetup,
      look,
      syntaxHighlighting(colours),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label }),
      diff.current.of([]),
      ...(language === "json"
        ? []
        : [javascript({ typescript: language === "typescript" }), javascriptLanguage.data.of({ autocomplete: completions })]),
      ...(isReadOnly ? [EditorState.readOnly.of(true)] : [autocompletion()]),
      EditorView.updateListener.of((update) => update.docChanged && latest.current.onChange(update.state.doc.toString())),
    ];
    const created = new EditorView({ root, parent: root, state: EditorState.create({ doc: latest.current.value, extensions }) });
    view.current = created;
    return () => {
      created.destroy();
      view.current = undefined;
    };
  }, [label, language, isReadOnly]);
  useEffect(() => {
    const current = view.current;
    if (current === undefined || current.state.doc.toString() === value) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const shown = original === undefined ? [] : unifiedMergeView({ original, mergeControls: false });
    view.current?.dispatch({ effects: diff.current.reconfigure(shown) });
  }, [original]);
  const problemsKey = JSON.stringify(problems);
  useEffect(() => {
    const current = view.current;
    if (current === undefined) return;
    const found = JSON.parse(problemsKey) as readonly CodeProblem[];
    current.dispatch(
      setDiagnostics(
        current.state,
        found.map((problem) => diagnosticOf(problem, current.state.doc)),
      ),
    );
  }, [problemsKey]);
  return <div ref={host} className="overflow-hidden rounded-md border border-line" />;
}

/** The problem at its word. The code may have changed since. */
function diagnosticOf({ line, column, message }: CodeProblem, doc: Text): Diagnostic {
  const { from, to, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const start = Math.min(from + Math.max(column - 1, 0), to);
  const word = /^[\w$]+/.exec(text.slice(start - from))?.[0].length ?? 1;
  return { from: start, to: Math.min(start + word, to), severity: "error", message };
}
