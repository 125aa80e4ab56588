import { pinLine, type PieceMember, type PinnedPackage } from "../../domain/component/npm-origin.ts";

const specifierOf = ({ name, version }: PinnedPackage, path = ""): string =>
  JSON.stringify(`npm:${name}@${version}${path === "" ? "" : `/${path}`}`);

/** The module of a component that is the default export of a file of a package, or of the package itself. */
export const fileCode = (found: PinnedPackage, path: string): string =>
  `${pinLine(found)}export { default } from ${specifierOf(found, path)};\n`;

/** The module of an action or a trigger of a piece. */
export function memberCode(found: PinnedPackage, { kind, name }: PieceMember): string {
  const make = kind === "action" ? "pieceAction" : "pieceTrigger";
  return [
    pinLine(found),
    // First: it prepares what packages look for when they are loaded.
    `import { ${make} } from "headwater/pieces";\n`,
    `import * as piece from ${specifierOf(found)};\n`,
    `export default ${make}(piece, ${JSON.stringify({ name: found.name, version: found.version })}, ${JSON.stringify(name)});\n`,
  ].join("");
}

/** The module whose definition says what a package exports. */
export const listingCode = (found: PinnedPackage): string =>
  [
    pinLine(found),
    `import { packageListing } from "headwater/pieces";\n`,
    `import * as exported from ${specifierOf(found)};\n`,
    `export default packageListing(exported, ${JSON.stringify(found.name)});\n`,
  ].join("");
