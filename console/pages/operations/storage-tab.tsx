import type { StorageUse } from "../../../client/generated/operations.ts";
import { useAdminRead } from "../../api/admin.ts";
import { formatBytes } from "../../parts/format.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SimpleTable } from "../../parts/simple-table.tsx";
import { Time } from "../../parts/time.tsx";
import { formatLimit } from "./format-limit.ts";
import { text } from "./strings.ts";

const refreshMs = 30_000;

/** How full the database and the streams are, and when they will be. */
export function StorageTab() {
  const storage = useAdminRead("adminListStorage", {}, refreshMs);
  return (
    <Section title={text.tabs.storage}>
      <p className="text-sm text-muted">{text.storageHint}</p>
      <Loaded isLoading={storage.isPending} error={storage.data === undefined ? storage.error : null} retry={() => void storage.refetch()}>
        <SimpleTable
          label={text.tabs.storage}
          head={[text.store, text.size, text.limit, text.growth, text.full]}
          rows={(storage.data?.data ?? []).map((use) => [
            nameOf(use),
            formatBytes(use.bytes),
            formatLimit(use.bytes, use.limit_bytes),
            growthOf(use),
            fullOf(use),
          ])}
        />
      </Loaded>
    </Section>
  );
}

const nameOf = ({ name, kind }: StorageUse): string => (kind === "database" ? text.database : name);

const growthOf = ({ forecast, bytes_per_day: growth }: StorageUse): string =>
  growth === null ? text.forecasts[forecast] : text.perDay(formatBytes(growth));

function fullOf({ forecast, limit_bytes: limit, full_at: at }: StorageUse) {
  if (at !== null) return <Time ms={at} />;
  return forecast === "growing" && limit !== null ? text.notSoon : text.dash;
}
