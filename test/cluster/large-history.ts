import { namespace } from "./installation.ts";
import { kubectl } from "./kubectl.ts";

/** The history's sources belong to no resource, as those of deleted users. */
const perSource = 100_000;
const perStatement = 500_000;

/** Rows have the size of real ones. Columns that a version lacks have defaults in the next. */
const inserts = (from: number, to: number): readonly string[] => [
  `insert into events (source, ms, seq, emit_id, channel, summary, ts, payload, run)
   select 'dc_history' || n / ${perSource}, 1750000000000 + n, 0, 'e' || n, '', 'request ' || n, 1750000000000 + n,
     '{"n":' || n || ',"text":"${"x".repeat(100)}"}', 'run_' || n
   from generate_series(${from}, ${to}) n`,
  `insert into runs (source, id, owner, deployment, started_ms, failed, summary)
   select 'dc_history' || n / ${perSource}, 'run_' || n, 'u_history', 'd_history', 1750000000000 + n, false,
     '{"id":"run_' || n || '","durationMs":3,"cpuMs":1,"eventIds":["e' || n || '"]}'
   from generate_series(${from}, ${to}, 10) n`,
  `insert into attempts (webhook, delivery, attempt, source, event, at_ms, record)
   select 'wh_history' || n / ${perSource}, 'd' || n, 1, 'dc_history' || n / ${perSource}, 'e' || n, 1750000000000 + n,
     '{"status":200,"durationMs":12,"outcome":"delivered"}'
   from generate_series(${from}, ${to}, 10) n`,
];

/** Statements of the release's own Postgres, as its superuser. */
export const psql = (text: string): Promise<string> =>
  kubectl(
    [
      "-n",
      namespace,
      "exec",
      "-i",
      "headwater-postgres-0",
      "--",
      "sh",
      "-c",
      `psql -qAt -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" "$POSTGRES_DB"`,
    ],
    text,
    600_000,
  );

/** Fills the history with this number of events, and a tenth of it of runs and of attempts: two connections, a transaction per half a million. */
export async function fillHistory(events: number): Promise<void> {
  const ranges = Array.from({ length: Math.ceil(events / perStatement) }, (_, index) => ({
    from: index * perStatement + 1,
    to: Math.min(events, (index + 1) * perStatement),
  }));
  const fill = async (parity: number): Promise<void> => {
    const own = ranges.filter((_, index) => index % 2 === parity);
    const statements = own.flatMap(({ from, to }) => ["begin", ...inserts(from, to), "commit"]);
    await psql(`set synchronous_commit = off;\n${statements.join(";\n")};\n`);
  };
  await psql("alter system set max_wal_size = '8GB'; select pg_reload_conf();");
  await Promise.all([fill(0), fill(1)]);
  await psql("alter system reset max_wal_size; select pg_reload_conf(); analyze events;");
}

export const countEvents = async (): Promise<number> =>
  Number((await psql("select count(*) from events where source like 'dc_history%'")).trim());
