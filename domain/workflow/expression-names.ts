import type { Node } from "acorn";

type Fields = Readonly<Record<string, unknown>>;

/** The names that an expression reads. */
export interface ReadNames {
  /** Read as `steps.name`, `steps["name"]` or `steps?.name`, each once. */
  readonly steps: readonly string[];
  /** Those among them of which a property is read without `?.`: it fails for a step that has not run. */
  readonly required: readonly string[];
  /** Read as `env.NAME` or `process.env.NAME`, each once. */
  readonly environment: readonly string[];
  /** Variables that it does not declare itself, each once. Names in `typeof name` do not count, since that never fails. */
  readonly variables: readonly string[];
}

/** A name that the expression declares anywhere counts as declared everywhere. Names that are computed are unknown. */
export function namesReadBy(root: Node): ReadNames {
  const steps = new Set<string>();
  const required = new Set<string>();
  const environment = new Set<string>();
  const variables = new Set<string>();
  const declared = new Set<string>();
  // Without recursion: a chain of properties is as deep as it is long.
  const rest: unknown[] = [root];
  const declarations: unknown[] = [];
  while (rest.length + declarations.length > 0) {
    const isDeclared = rest.length === 0;
    const node = isDeclared ? declarations.pop() : rest.pop();
    if (!isNode(node) || namesSteps(node["params"])) continue;
    if (node["type"] === "Identifier") (isDeclared ? declared : variables).add(String(node["name"]));
    const step = memberRead(node, isSteps);
    if (step !== undefined) steps.add(step);
    const { type, object, optional } = node;
    const whole = type === "MemberExpression" && optional !== true && isNode(object) ? memberRead(object, isSteps) : undefined;
    if (whole !== undefined) required.add(whole);
    const name = memberRead(node, isEnvironment);
    if (name !== undefined) environment.add(name);
    pushChildren(node, isDeclared ? declarations : rest, declarations);
  }
  const readNames = (names: ReadonlySet<string>): readonly string[] => [...names].toReversed();
  return {
    steps: readNames(steps),
    required: readNames(required),
    environment: readNames(environment),
    variables: [...variables].filter((name) => !declared.has(name)).toReversed(),
  };
}

/** Fields whose identifiers are declarations, by type of node. */
const declaringFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["ArrowFunctionExpression", ["params"]],
  ["FunctionExpression", ["id", "params"]],
  ["FunctionDeclaration", ["id", "params"]],
  ["ClassExpression", ["id"]],
  ["ClassDeclaration", ["id"]],
  ["VariableDeclarator", ["id"]],
  ["CatchClause", ["param"]],
]);
/** Fields with names of properties and labels, unless they are computed. */
const nameFields: ReadonlyMap<unknown, string> = new Map([
  ["MemberExpression", "property"],
  ["Property", "key"],
  ["MethodDefinition", "key"],
  ["PropertyDefinition", "key"],
  ["LabeledStatement", "label"],
  ["BreakStatement", "label"],
  ["ContinueStatement", "label"],
]);
const withoutNames: ReadonlySet<unknown> = new Set(["MetaProperty", "Literal", "Identifier", "TemplateElement"]);

function pushChildren(node: Fields, rest: unknown[], declarations: unknown[]): void {
  const { type, computed, operator, argument } = node;
  if (withoutNames.has(type)) return;
  if (operator === "typeof" && isNode(argument) && argument["type"] === "Identifier") return;
  const declaring = declaringFields.get(type);
  const skipped = computed === true ? undefined : nameFields.get(type);
  for (const field in node) {
    const child = node[field];
    if (typeof child !== "object" || child === null || field === skipped) continue;
    const list = declaring?.includes(field) === true ? declarations : rest;
    if (!Array.isArray(child)) list.push(child);
    else for (const each of child as readonly unknown[]) list.push(each);
  }
}

function memberRead({ type, object, property, computed }: Fields, isRead: (object: unknown) => boolean): string | undefined {
  if (type !== "MemberExpression" || !isRead(object) || !isNode(property)) return undefined;
  if (computed !== true) return property["type"] === "Identifier" ? String(property["name"]) : undefined;
  return property["type"] === "Literal" && typeof property["value"] === "string" ? property["value"] : undefined;
}

/** A function with a parameter of that name means its own. */
const namesSteps = (params: unknown): boolean => Array.isArray(params) && params.some(isSteps);
const isNamed = (node: unknown, name: string): boolean => isNode(node) && node["type"] === "Identifier" && node["name"] === name;
const isSteps = (node: unknown): boolean => isNamed(node, "steps");
/** `env` or `process.env` */
const isEnvironment = (node: unknown): boolean =>
  isNamed(node, "env") || (isNode(node) && memberRead(node, (object) => isNamed(object, "process")) === "env");
const isNode = (value: unknown): value is Fields => typeof value === "object" && value !== null;
