const expression = /\{\{[^]*?\}\}/;

/** Whether the value contains an expression, `{{ … }}`. It is evaluated when the step runs. */
export function hasExpression(value: unknown): boolean {
  if (typeof value === "string") return expression.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasExpression);
}

/** Names of the props whose values are not known before the step runs, so that they cannot be checked. */
export function propsWithExpressions(props: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set(Object.keys(props).filter((name) => hasExpression(props[name])));
}

/** The values that are known before the step runs. */
export function knownProps(props: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(props).filter(([, value]) => !hasExpression(value)));
}
