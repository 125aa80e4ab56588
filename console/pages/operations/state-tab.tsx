import type { InstallationStatus } from "../../../client/generated/operations.ts";
import { useAdminRead } from "../../api/admin.ts";
import { useSearchParams } from "../../parts/search.ts";
import { Button } from "../../parts/button.tsx";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { ErrorNotice } from "../../parts/notices.tsx";
import { Facts, Section } from "../../parts/page.tsx";
import { SimpleTable } from "../../parts/simple-table.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { formatLimit } from "./format-limit.ts";
import { Problems } from "./problems.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

/** The state of the installation. `?pool=` shows one runner pool: dashboards link to it. */
export function StateTab() {
  const status = useAdminRead("adminGetStatus", {}, refreshMs);
  if (status.data === undefined) return null;
  const { data } = status.data;
  return (
    <>
      {status.error !== null && <ErrorNotice error={status.error} />}
      <Problems problems={data.problems} />
      <Section title={text.state}>
        <Facts
          facts={[
            [text.state, <State key="state" state={data.ready ? "active" : "failed"} label={data.ready ? text.ready : text.notReady} />],
            [text.version, data.version],
            [text.nats, data.nats_version],
            [text.backlog, formatCount(data.backlog)],
            ...Object.entries(data.checks).map(
              ([name, outcome]) => [name, <State key={name} state={outcome === "ok" ? "ok" : "failed"} label={outcome} />] as const,
            ),
          ]}
        />
      </Section>
      <Lag lag={data.lag} />
      <Pools pools={data.pools} />
      <Streams streams={data.streams} />
      <Section title={text.deliveries}>
        <SimpleTable
          label={text.deliveries}
          head={[text.replica, text.partitions]}
          rows={data.deliveries.map(({ id, partitions }) => [id, partitions.join(", ")])}
        />
      </Section>
    </>
  );
}

function Lag({ lag }: Pick<InstallationStatus, "lag">) {
  return (
    <Section title={text.lag}>
      {lag === null ? (
        <p className="text-sm text-muted">{text.lagUnknown}</p>
      ) : (
        <Facts
          facts={[
            [text.oldestInvocation, lag.oldest_invocation_at === null ? text.none : <Time key="oldest" ms={lag.oldest_invocation_at} />],
            [text.unrouted, formatCount(lag.unrouted)],
            [text.due, formatCount(lag.due)],
            [text.scheduled, formatCount(lag.scheduled)],
            [text.ordered, formatCount(lag.ordered)],
            [text.unrecorded, formatCount(lag.unrecorded)],
          ]}
        />
      )}
    </Section>
  );
}

function Pools({ pools }: Pick<InstallationStatus, "pools">) {
  const [{ pool }, setSearch] = useSearchParams();
  const shown = pool === undefined ? pools : [pools.find(({ name }) => name === pool) ?? { name: pool, runners: [] }];
  return (
    <Section
      title={text.pools}
      actions={pool !== undefined && <Button onClick={() => setSearch({ pool: undefined })}>{text.allPools}</Button>}
    >
      {shown.map(({ name, runners }) => (
        <div key={name} className="flex min-w-0 flex-col gap-2">
          <h3 className="font-medium">
            <bdi>{text.pool(name)}</bdi>
          </h3>
          {runners.length === 0 ? (
            <p className="text-sm text-warn">{text.noRunners}</p>
          ) : (
            <SimpleTable
              label={text.pool(name)}
              head={[text.runner, text.memory, text.fullSources]}
              rows={runners.map(({ id, memory_share: share, full_sources: full }) => [
                id,
                share === null ? text.noLimit : `${Math.round(share * 100)} %`,
                formatCount(full),
              ])}
            />
          )}
        </div>
      ))}
    </Section>
  );
}

function Streams({ streams }: Pick<InstallationStatus, "streams">) {
  return (
    <Section title={text.streams}>
      <SimpleTable
        label={text.streams}
        head={[text.stream, text.messages, text.size, text.limit, text.replicas]}
        rows={streams.map(({ name, messages, bytes, limit_bytes: limit, replicas }) => [
          name,
          formatCount(messages),
          formatBytes(bytes),
          formatLimit(bytes, limit),
          String(replicas),
        ])}
      />
    </Section>
  );
}
