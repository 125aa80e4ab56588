/**
 * Makes components of the pieces of Activepieces, by their public contract. It is what generated modules import as `headwater/pieces`, and runs
 * inside the isolate, beside the package as it was published.
 */
import "./piece/lazy-webassembly.ts";
import { actionOf } from "./piece/action.ts";
import { appSlugOf, findPiece, type Fields } from "./piece/contract.ts";
import { describeExports } from "./piece/listing.ts";
import { pollingSourceOf } from "./piece/polling-trigger.ts";
import { webhookSourceOf } from "./piece/webhook-trigger.ts";

/** The package of a piece, which its components say. */
interface Package {
  readonly name: string;
  readonly version: string;
}

/** The component of an action. */
export function pieceAction(exported: unknown, { name: packageName, version }: Package, name: string): Fields {
  const piece = findPiece(exported);
  const member = piece?.actions.get(name);
  if (piece === undefined || member === undefined) throw new Error(`${packageName} has no action ${name}`);
  return { version, ...actionOf({ piece, packageName, member }, name, keyOf(packageName, name)) };
}

/** The component of a trigger. */
export function pieceTrigger(exported: unknown, { name: packageName, version }: Package, name: string): Fields {
  const piece = findPiece(exported);
  const member = piece?.triggers.get(name);
  if (piece === undefined || member === undefined) throw new Error(`${packageName} has no trigger ${name}`);
  const described = { piece, packageName, member };
  const make = member["type"] === "POLLING" ? pollingSourceOf : webhookSourceOf;
  return { version, ...make(described, name, keyOf(packageName, name)) };
}

/** What a package exports, in the definition of a component that is only inspected. */
export function packageListing(exported: unknown, packageName: string): Fields {
  return { name: "Package", type: "action", props: { listing: { type: "any", static: describeExports(exported, packageName) } }, run() {} };
}

const keyOf = (packageName: string, name: string): string => `${appSlugOf(packageName)}-${name.replaceAll(/[^\w]+/g, "_")}`;
