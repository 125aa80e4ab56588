import { appSlugOf, findPiece, isFields, isFunction, textOf, type Fields, type Piece } from "./contract.ts";
import { describeAuth } from "./auth.ts";
import { propsOf, type Described } from "./props.ts";

const maxMembers = 2_000;
const maxText = 1_000;
const strategies: ReadonlyMap<unknown, string> = new Map([
  ["POLLING", "polling"],
  ["WEBHOOK", "webhook"],
  ["APP_WEBHOOK", "app_webhook"],
  ["MANUAL", "manual"],
]);

/** What the exports of a package are. */
export function describeExports(exported: unknown, packageName: string): Fields {
  const piece = findPiece(exported);
  if (piece !== undefined) return { kind: "piece", ...describePiece(piece, packageName) };
  const component = isFields(exported) ? exported["default"] : undefined;
  const isComponent = isFields(component) && (isFunction(component["run"]) || isFields(component["props"]));
  return isComponent ? { kind: "component", name: textOf(component["name"]), type: component["type"] } : { kind: "none" };
}

function describePiece(piece: Piece, packageName: string): Fields {
  const { displayName, description, actions, triggers } = piece;
  const auth = piece.auth.length > 0 ? piece.auth : piece.authOfMembers.slice(0, 1);
  return {
    piece: {
      displayName: clip(displayName),
      ...(description === "" ? {} : { description: clip(description) }),
      app: appSlugOf(packageName),
      auth: auth.map(describeAuth).filter((each) => each !== undefined),
    },
    actions: [...actions].slice(0, maxMembers).map(([name, action]) => describeMember({ piece, packageName, member: action }, name)),
    triggers: [...triggers].slice(0, maxMembers).map(([name, trigger]) => ({
      ...describeMember({ piece, packageName, member: trigger }, name),
      strategy: strategies.get(trigger["type"]) ?? "manual",
    })),
  };
}

function describeMember(described: Described, name: string): Fields {
  const { member } = described;
  const problem = problemOf(described);
  return {
    name,
    label: clip(textOf(member["displayName"]) ?? name),
    description: clip(textOf(member["description"]) ?? ""),
    ...(problem === undefined ? {} : { problem: clip(problem) }),
  };
}

/** Why the props of a member cannot be those of a component. */
function problemOf(described: Described): string | undefined {
  try {
    propsOf(described);
    return undefined;
  } catch (error) {
    return `its props cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const clip = (text: string): string => text.slice(0, maxText);
