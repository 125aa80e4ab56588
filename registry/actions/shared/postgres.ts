import pg from "pg@8.23.1";

/** Props of a connection to Postgres. */
export const connectionProps = {
  host: { type: "string", label: "Host", description: "Host of the Postgres server" },
  port: { type: "integer", label: "Port", description: "Port of the Postgres server", min: 1, max: 65_535, default: 5_432 },
  database: { type: "string", label: "Database", description: "Name of the database" },
  user: { type: "string", label: "User", description: "User to connect as" },
  password: { type: "string", label: "Password", description: "Password of the user", secret: true, optional: true },
  tls: {
    type: "string",
    label: "TLS",
    description: "How the connection is encrypted",
    options: [
      { label: "Encrypted, the server's certificate is checked", value: "verify" },
      { label: "Encrypted, any certificate", value: "any-certificate" },
      { label: "Not encrypted", value: "off" },
    ],
    default: "verify",
  },
  ca: {
    type: "string",
    label: "CA Certificate",
    description: "Certificate, as PEM, by which the server's is checked; without it, that of a public authority",
    optional: true,
  },
} as const;

export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly tls: string;
  readonly ca: string | undefined;
}

/** Runs one statement on a connection of its own, which is closed in any case. @throws Error with the server's message and code */
export async function query(
  { host, port, database, user, password, tls, ca }: Connection,
  text: string,
  parameters: readonly unknown[],
): Promise<pg.QueryResult<Record<string, unknown>>> {
  const client = new pg.Client({
    host,
    port,
    database,
    user,
    ...(password === undefined ? {} : { password }),
    ssl: tls === "off" ? false : { rejectUnauthorized: tls !== "any-certificate", ...(ca === undefined ? {} : { ca }) },
    connectionTimeoutMillis: 20_000,
    application_name: "headwater",
  });
  // An error of an idle connection is an event; one during the statement also rejects it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    // The simple protocol, which is used for statements without parameters, would run several statements.
    const statement: pg.QueryConfig & { readonly queryMode: "extended" } = { text, values: [...parameters], queryMode: "extended" };
    return await client.query<Record<string, unknown>>(statement);
  } catch (cause) {
    throw new Error(`Postgres at ${host}:${port} refused: ${messageOf(cause)}`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { code, detail } = cause as { readonly code?: unknown; readonly detail?: unknown };
  return [cause.message, typeof detail === "string" ? ` (${detail})` : "", typeof code === "string" ? ` [${code}]` : ""].join("");
}

/** An identifier of SQL, whatever characters it has. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
