/** What an expression of PromQL speaks of. It knows the words and brackets of the language, not its types. */
export interface Expression {
  readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  /** Labels in `by`, `on` and the like. */
  readonly grouping: readonly string[];
}

const functions = ["absent", "changes", "histogram_quantile", "increase", "rate", "scalar", "time"];
const aggregations = ["max", "sum"];
const operators = ["and", "or", "unless"];
const groupings = ["by", "without", "on", "ignoring"];
const token = /\s*(?:("[^"\\]*")|(\[[^\]]*\])|([A-Za-z_:][\w:]*)|(\d+(?:\.\d+)?)|(=~|!~|!=|==|<=|>=|[-+*/<>=(){},]))/y;
const range = /^\[(?:\d+[smhd]|\$__rate_interval)\]$/;
const closing: Readonly<Record<string, string>> = { "(": ")", "{": "}" };

/** @throws an Error that names what is wrong */
export function parseExpression(text: string): Expression {
  const words = tokens(text);
  balance(words);
  const selectors: { metric: string; labels: readonly string[] }[] = [];
  const grouping: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const [word = "", next = ""] = words.slice(index);
    if (word === "{") throw new Error(`a selector has no metric: ${text}`);
    if (!/^[A-Za-z_:]/.test(word) || operators.includes(word)) continue;
    if (groupings.includes(word)) {
      const inside = within(words, index + 1);
      grouping.push(...inside.filter((each) => each !== ","));
      index += inside.length + 2;
    } else if (functions.includes(word) || aggregations.includes(word)) {
      if (next !== "(" && !(aggregations.includes(word) && groupings.includes(next))) throw new Error(`'${word}' is not called: ${text}`);
    } else if (next === "(") throw new Error(`'${word}' is no known function: ${text}`);
    else {
      const inside = next === "{" ? within(words, index + 1) : [];
      selectors.push({ metric: word, labels: labelsOf(inside, text) });
      if (next === "{") index += inside.length + 2;
    }
  }
  return { selectors, grouping };
}

function tokens(text: string): readonly string[] {
  const words: string[] = [];
  token.lastIndex = 0;
  for (let at = 0; at < text.trimEnd().length; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null) throw new Error(`not understood from '${text.slice(at)}': ${text}`);
    const word = found[0].trim();
    if (word.startsWith("[") && !range.test(word)) throw new Error(`'${word}' is no range: ${text}`);
    words.push(word);
  }
  return words;
}

function balance(words: readonly string[]): void {
  const open: string[] = [];
  for (const word of words) {
    const end = closing[word];
    if (end !== undefined) open.push(end);
    else if ((word === ")" || word === "}") && open.pop() !== word) throw new Error(`brackets do not fit: ${words.join(" ")}`);
  }
  if (open.length > 0) throw new Error(`'${open.join("")}' is missing at the end: ${words.join(" ")}`);
}

/** What is between the bracket at `from` and its end. */
function within(words: readonly string[], from: number): readonly string[] {
  const end = words.indexOf(closing[words[from] ?? ""] ?? "", from);
  if (end < 0) throw new Error(`a bracket is expected before '${words.slice(from).join(" ")}'`);
  return words.slice(from + 1, end);
}

/** Of `label op "value", …`. */
function labelsOf(matchers: readonly string[], text: string): readonly string[] {
  const labels: string[] = [];
  for (let index = 0; index < matchers.length; index += 4) {
    const [label = "", operator = "", value = "", comma = ","] = matchers.slice(index);
    const fits = /^\w+$/.test(label) && ["=", "!=", "=~", "!~"].includes(operator) && value.startsWith('"') && comma === ",";
    if (!fits) throw new Error(`'${matchers.slice(index).join(" ")}' is no matcher: ${text}`);
    labels.push(label);
  }
  return labels;
}
