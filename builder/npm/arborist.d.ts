/** The calls of @npmcli/arborist that the builder makes; the package brings no types. */
declare module "@npmcli/arborist" {
  export interface ArboristOptions {
    readonly path: string;
    readonly cache: string;
    readonly ignoreScripts: boolean;
    readonly binLinks: boolean;
    readonly audit: boolean;
    readonly omit: readonly ("dev" | "optional" | "peer")[];
    readonly lockfileVersion: 3;
    readonly allowGit: "none";
    readonly allowRemote: "none";
    readonly allowFile: "none";
    readonly allowDirectory: "none";
    readonly signal?: AbortSignal;
    readonly [npmOption: string]: unknown;
  }

  /** A package in the tree. */
  export interface ArboristNode {
    /** Folder name. */
    readonly name: string;
    readonly packageName: string | null;
    readonly version: string;
    /** Path from the root, `node_modules/a/node_modules/b`. */
    readonly location: string;
    readonly isRoot: boolean;
    readonly isLink: boolean;
    readonly inBundle: boolean;
    readonly integrity: string | null;
    readonly isRegistryDependency: boolean;
    shouldOmit(omit: ReadonlySet<string>): boolean;
  }

  export interface ArboristTree {
    readonly inventory: { values(): Iterable<ArboristNode> };
  }

  export default class Arborist {
    constructor(options: ArboristOptions);
    /** Decides which versions go where, from package.json, package-lock.json and the registry; downloads no package. */
    buildIdealTree(): Promise<ArboristTree>;
    /** Makes node_modules and package-lock.json what the ideal tree says. */
    reify(): Promise<ArboristTree>;
  }
}
