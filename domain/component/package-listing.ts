/** A package of the npm registry, as it is asked for. */
export interface WantedPackage {
  readonly name: string;
  /** Version, semver range or tag; null: the latest. */
  readonly range: string | null;
}

/** A package of the npm registry, and the components in it. */
export interface PackageListing {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** What its publisher says of a version that should not be used any more. */
  readonly deprecated?: string | undefined;
  /** `components`: files in the component format; `piece`: a piece of Activepieces; `component`: its main export is one; `none` of these. */
  readonly kind: "components" | "piece" | "component" | "none";
  readonly piece?: PieceFacts | undefined;
  readonly components: readonly ListedComponent[];
  /** Why its code cannot be evaluated, so that nothing is known of its components. */
  readonly problem?: string | undefined;
}

/** A component of a package, in a list. */
export interface ListedComponent {
  /** What follows the package and version in its address: a path, or `#action/<name>`; "" for the package itself. */
  readonly address: string;
  readonly type: "source" | "action";
  readonly name: string;
  readonly description?: string | undefined;
  readonly key?: string | undefined;
  readonly version?: string | undefined;
  /** Of a trigger of a piece. */
  readonly strategy?: "polling" | "webhook" | "app_webhook" | "manual" | undefined;
  /** Why it cannot work here, or what it needs. */
  readonly problem?: string | undefined;
}

/** A piece as it describes itself. */
export interface PieceFacts {
  readonly displayName: string;
  readonly description?: string | undefined;
  /** Slug of the app whose accounts it uses. */
  readonly app: string;
  /** The ways in which it authenticates; none: it needs no account. */
  readonly auth: readonly PieceAuth[];
}

export interface PieceAuth {
  readonly kind: "oauth2" | "secret_text" | "basic" | "custom" | "oidc";
  /** Addresses of OAuth 2. */
  readonly authorizationUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Of an account: what the person who connects it enters. */
  readonly fields?: readonly PieceAuthField[] | undefined;
}

export interface PieceAuthField {
  readonly name: string;
  readonly label: string;
  readonly secret: boolean;
  readonly optional: boolean;
}
