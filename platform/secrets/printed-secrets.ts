import { randomBytes } from "node:crypto";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { InvalidInput } from "../../domain/errors.ts";
import {
  installationSecrets,
  newRoots,
  rootsSecret,
  saysTheSame,
  type PostgresAddress,
  type Roots,
  type SecretTexts,
} from "./installation-secrets.ts";

/** Texts of Secrets by name. */
export type Secrets = Readonly<Record<string, SecretTexts>>;

export const ownPostgresSecret = "headwater-postgres";
const setupSecret = "headwater-setup";

const adminShape = z.object({ username: z.string().min(1), password: z.string() });
type Administrator = z.infer<typeof adminShape>;

export const newAdministrator = (): Administrator => ({ username: "postgres", password: randomBytes(24).toString("base64url") });

const rootsShape = z.object({ "nats-root": z.string(), "master.json": z.string(), "passwords-root": z.string(), "api-key": z.string() });

/** The roots in the texts of their Secret. @throws InvalidInput for missing keys */
export function rootsIn(texts: SecretTexts): Roots {
  const roots = required(rootsShape, texts, rootsSecret);
  return { nats: roots["nats-root"], master: roots["master.json"], passwords: roots["passwords-root"], apiKey: roots["api-key"] };
}

export const textsOfRoots = (roots: Roots): SecretTexts => ({
  "nats-root": roots.nats,
  "master.json": roots.master,
  "passwords-root": roots.passwords,
  "api-key": roots.apiKey,
});

/** The administrator of Postgres in the texts of a Secret. @throws InvalidInput for missing keys */
export const administratorIn = (texts: SecretTexts, secret: string): Administrator => required(adminShape, texts, secret);

/** The administrator of Postgres, as libpq's variables name it; undefined: neither is set. @throws InvalidInput when only one is set */
export function administratorFrom({ PGUSER: username = "", PGPASSWORD: password = "" }: NodeJS.ProcessEnv): Administrator | undefined {
  if (username === "" && password === "") return undefined;
  if (username !== "" && password !== "") return { username, password };
  throw new InvalidInput(`${username === "" ? "PGUSER" : "PGPASSWORD"} is missing: set both to the administrator of Postgres`);
}

const manifestShape = z.union([
  z.object({ kind: z.literal("List"), items: z.array(z.unknown()) }),
  z.object({
    kind: z.literal("Secret"),
    metadata: z.object({ name: z.string() }),
    data: z.record(z.string(), z.string()).nullish(),
    stringData: z.record(z.string(), z.string()).nullish(),
  }),
]);

/** The Secrets of a YAML or JSON manifest: documents, or a list such as `kubectl get secrets -o yaml` prints. @throws InvalidInput */
export function parseSecrets(manifest: string): Secrets {
  // Pretty messages quote the line, which may be a secret.
  const documents = parseAllDocuments(manifest, { prettyErrors: false });
  if (documents.some(({ errors }) => errors.length > 0)) throw new InvalidInput("the manifest of existing Secrets is not valid YAML");
  const found = documents.map((document): unknown => document.toJS()).filter((each) => each !== null);
  return Object.fromEntries(found.flatMap(secretsIn));
}

function secretsIn(object: unknown): readonly (readonly [string, SecretTexts])[] {
  const { success, data: parsed } = manifestShape.safeParse(object);
  if (!success) throw new InvalidInput("the manifest of existing Secrets has an object that is neither a Secret nor a List of Secrets");
  if (parsed.kind === "List") return parsed.items.flatMap(secretsIn);
  const decoded = Object.entries(parsed.data ?? {}).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]);
  return [[parsed.metadata.name, { ...Object.fromEntries(decoded), ...parsed.stringData }]];
}

export interface Printing {
  /** Where Postgres is, and the names of the roles' users there. */
  readonly postgres: Pick<Required<PostgresAddress>, "address" | "rolePrefix">;
  /** Its administrator, as given by the user. */
  readonly administrator: Administrator | undefined;
  /** Name of the Secret that may have the administrator. */
  readonly administratorSecret: string;
  readonly existing: Secrets;
  /** Secrets that are not derived from others, each with its generator. */
  readonly generated: Readonly<Record<string, () => SecretTexts>>;
}

/**
 * The Secrets that are missing, and existing ones whose derived texts this version changes: these keep the user's other keys. Without
 * existing Secrets: all, from new roots. @throws InvalidInput when a text that only the user can know is missing
 */
export async function secretsToPrint({ existing, generated, ...given }: Printing): Promise<Secrets> {
  const roots = existing[rootsSecret] === undefined ? await newRoots() : rootsIn(existing[rootsSecret]);
  const administrator = administratorFor(existing, given);
  const derived = await installationSecrets(roots, { ...given.postgres, ...administrator });
  checkRoots(existing, derived);
  const kept: Readonly<Record<string, () => SecretTexts>> = {
    [rootsSecret]: () => textsOfRoots(roots),
    ...(isOwnPostgres(given.postgres.address) ? { [ownPostgresSecret]: () => administrator } : {}),
    ...generated,
  };
  const missing = Object.entries(kept).filter(([name]) => existing[name] === undefined);
  const changed = Object.entries(derived).flatMap(([name, texts]) => {
    const before = existing[name];
    if (before === undefined) return [[name, texts] as const];
    const now = { ...before, ...texts };
    return saysTheSame(before, now) ? [] : [[name, now] as const];
  });
  return Object.fromEntries([...missing.map(([name, make]) => [name, make()] as const), ...changed]);
}

/** The Service of the chart's own Postgres. */
const isOwnPostgres = (address: string): boolean => /^headwater-postgres[.:]/.test(address);

/** New roots would not fit to Secrets that were derived from others. */
function checkRoots(existing: Secrets, derived: Secrets): void {
  const orphans = Object.keys(derived).filter((name) => existing[name] !== undefined);
  if (existing[rootsSecret] !== undefined || orphans.length === 0) return;
  throw new InvalidInput(`the existing Secrets lack ${rootsSecret}, which ${orphans.join(", ")} were derived from: give it as well`);
}

type Given = Pick<Printing, "postgres" | "administrator" | "administratorSecret">;

function administratorFor(existing: Secrets, { postgres, administrator, administratorSecret: secret }: Given): Administrator {
  const texts = existing[secret];
  const found = administrator ?? (texts === undefined ? administratorInUrl(existing[setupSecret]) : administratorIn(texts, secret));
  if (found !== undefined) return found;
  if (isOwnPostgres(postgres.address) && existing[rootsSecret] === undefined) return newAdministrator();
  throw new InvalidInput(
    `the administrator of the Postgres at ${postgres.address} is missing: set PGUSER and PGPASSWORD, or give the existing Secret ${secret}`,
  );
}

/** Setup's Secret has the administrator in its URL. */
function administratorInUrl(setup: SecretTexts | undefined): Administrator | undefined {
  const url = setup?.["DATABASE_URL"];
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { username, password } = new URL(url);
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** Reports only the names of missing keys. */
function required<T>(shape: z.ZodType<T>, texts: SecretTexts, secret: string): T {
  const { success, data, error } = shape.safeParse(texts);
  if (success) return data;
  const keys = error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new InvalidInput(`the Secret ${secret} lacks ${keys}: add what is missing`);
}
