import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { z } from "zod";
import { Conflict, HeadwaterError, InvalidInput, NotFound } from "../domain/errors.ts";
import { defaultRolePrefix, rolePrefixPattern } from "../platform/postgres/roles.ts";
import { connectKubernetes, pathOf, type Kubernetes } from "../platform/kubernetes/access/connection.ts";
import {
  installationSecrets,
  newRoots,
  rootsSecret,
  saysTheSame,
  type PostgresAddress,
  type SecretTexts,
} from "../platform/secrets/installation-secrets.ts";
import {
  administratorFrom,
  administratorIn,
  newAdministrator,
  ownPostgresSecret,
  parseSecrets,
  rootsIn,
  secretsToPrint,
  textsOfRoots,
  type Printing,
} from "../platform/secrets/printed-secrets.ts";

/**
 * Creates the Secrets of an installation in a cluster. Roots and passwords are created once and never changed; derived Secrets are
 * updated. `--print` uses no cluster and prints them as YAML, for users who manage Secrets elsewhere.
 */
const help = `Usage: node scripts/install-secrets.ts --postgres host:port/database [--postgres-secret NAME] [--role-prefix PREFIX]
         [--admin-token] [--print [--existing FILE]]

  --postgres         where Postgres is
  --postgres-secret  Secret with username and password of the owner of the database, who may create users; made when it is headwater-postgres
  --role-prefix      start of the names of the roles' users in Postgres; default: headwater_. Each installation on a server needs its own
  --admin-token      makes headwater-admin-token as well, which opens the admin API; made once and never changed
  --print            prints the Secrets instead of making them, with new keys unless --existing has some: keep what is printed
  --existing         file with the Secrets that exist, as YAML or JSON; - is standard input. Only Secrets that are missing or that this
                     version changes are printed

With --print and a Postgres of your own, the administrator is that of PGUSER and PGPASSWORD, or of an existing Secret.
`;

const secretShape = z.looseObject({
  data: z.record(z.string(), z.string()).default({}),
  metadata: z.looseObject({ resourceVersion: z.string() }),
});
const adminTokenSecret = "headwater-admin-token";
const newAdminToken = (): SecretTexts => ({ "admin-token": randomBytes(32).toString("base64url") });

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      postgres: { type: "string" },
      "postgres-secret": { type: "string", default: ownPostgresSecret },
      "role-prefix": { type: "string", default: defaultRolePrefix },
      "admin-token": { type: "boolean", default: false },
      print: { type: "boolean", default: false },
      existing: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  if (values.postgres === undefined || !/^[^/@\s]+:\d+\/[\w-]+$/.test(values.postgres))
    throw new InvalidInput(`--postgres '${values.postgres ?? ""}' is invalid: it must be host:port/database`);
  const rolePrefix = values["role-prefix"];
  if (!rolePrefixPattern.test(rolePrefix))
    throw new InvalidInput(`--role-prefix '${rolePrefix}' is invalid: use at most 50 lower-case letters, digits and _, such as team_a_`);
  const postgres = { address: values.postgres, rolePrefix };
  const adminToken = values["admin-token"] ? { [adminTokenSecret]: newAdminToken } : {};
  const { existing: file } = values;
  if (file !== undefined && !values.print) throw new InvalidInput("--existing is only for --print: in a cluster the Secrets are found");
  if (values.print) {
    const existing = file === undefined ? {} : parseSecrets(file === "-" ? await text(process.stdin) : await readFile(file, "utf8"));
    const administrator = administratorFrom(process.env);
    return print({ postgres, administrator, administratorSecret: values["postgres-secret"], existing, generated: adminToken });
  }
  await install(postgres, values["postgres-secret"], adminToken);
}

type Target = Pick<Required<PostgresAddress>, "address" | "rolePrefix">;

/** Secrets that are not derived from others, each with its generator. */
type Kept = Readonly<Record<string, () => SecretTexts>>;

async function install(postgres: Target, adminSecret: string, kept: Kept): Promise<void> {
  const kubernetes = await connectKubernetes({ userAgent: "headwater secrets" });
  try {
    const secrets = new Secrets(kubernetes);
    const roots = rootsIn(await secrets.keep(rootsSecret, async () => textsOfRoots(await newRoots())));
    const isOwn = adminSecret === ownPostgresSecret;
    const admin = administratorIn(await secrets.keep(adminSecret, isOwn ? async () => newAdministrator() : undefined), adminSecret);
    for (const [name, make] of Object.entries(kept)) await secrets.keep(name, async () => make());
    for (const [name, texts] of Object.entries(await installationSecrets(roots, { ...postgres, ...admin })))
      await secrets.update(name, texts);
  } finally {
    await kubernetes.close();
  }
}

class Secrets {
  readonly #kubernetes: Kubernetes;
  readonly #path: string;

  constructor(kubernetes: Kubernetes) {
    this.#kubernetes = kubernetes;
    this.#path = pathOf(["api", "v1", "namespaces", kubernetes.namespace, "secrets"]);
  }

  /** The content of the Secret, created if it is missing. @throws InvalidInput when a missing Secret must come from the user */
  async keep(name: string, make: (() => Promise<SecretTexts>) | undefined): Promise<SecretTexts> {
    const there = await this.#find(name);
    if (there !== undefined) return there.texts;
    if (make === undefined) throw new InvalidInput(`there is no Secret ${name} in namespace ${this.#kubernetes.namespace}: make it first`);
    const texts = await make();
    try {
      await this.#create(name, texts);
      return texts;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      return this.keep(name, undefined); // Another process has created it first: its keys are the valid ones.
    }
  }

  async update(name: string, texts: SecretTexts): Promise<void> {
    const there = await this.#find(name);
    if (there === undefined) return this.#create(name, texts);
    if (saysTheSame(there.texts, texts)) return;
    const secret = secretOf(name, texts);
    // stringData is merged into existing data, so `data` clears that first.
    const body = { ...secret, data: {}, metadata: { ...secret.metadata, resourceVersion: there.resourceVersion } };
    await this.#kubernetes.request({ method: "PUT", path: this.#path + pathOf([name]), body });
    console.log(`Secret ${name} is brought up to date`);
  }

  async #find(name: string): Promise<{ readonly texts: SecretTexts; readonly resourceVersion: string } | undefined> {
    try {
      const { data, metadata } = secretShape.parse(await this.#kubernetes.request({ method: "GET", path: this.#path + pathOf([name]) }));
      const texts = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));
      return { texts, resourceVersion: metadata.resourceVersion };
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async #create(name: string, texts: SecretTexts): Promise<void> {
    await this.#kubernetes.request({ method: "POST", path: this.#path, body: secretOf(name, texts) });
    console.log(`Secret ${name} is made`);
  }
}

function secretOf(name: string, stringData: SecretTexts) {
  const labels = { "app.kubernetes.io/name": "headwater", "app.kubernetes.io/managed-by": "headwater" };
  return { apiVersion: "v1", kind: "Secret", metadata: { name, labels }, type: "Opaque", stringData };
}

async function print(printing: Printing): Promise<void> {
  const secrets = Object.entries(await secretsToPrint(printing));
  for (const [name] of secrets) process.stderr.write(`${name} ${printing.existing[name] === undefined ? "is new" : "has changed"}\n`);
  process.stdout.write(secrets.map(([name, texts]) => `---\n${stringify(secretOf(name, texts))}`).join(""));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof HeadwaterError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
