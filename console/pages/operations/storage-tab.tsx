import { useAdminRead } from "../../api/admin.ts";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SimpleTable } from "../../parts/simple-table.tsx";
import { text } from "./strings.ts";

const refreshMs = 30_000;

export function StorageTab() {
  const status = useAdminRead("adminGetStatus", {}, refreshMs);
  return (
    <Section title={text.streams}>
      <Loaded isLoading={status.isPending} error={status.data === undefined ? status.error : null} retry={() => void status.refetch()}>
        <SimpleTable
          label={text.streams}
          head={[text.stream, text.messages, text.size, text.limit, text.replicas]}
          rows={(status.data?.data.streams ?? []).map(({ name, messages, bytes, limit_bytes: limit, replicas }) => [
            name,
            formatCount(messages),
            formatBytes(bytes),
            limit === null ? text.noLimit : `${formatBytes(limit)} (${Math.round((bytes / limit) * 100)} %)`,
            String(replicas),
          ])}
        />
      </Loaded>
    </Section>
  );
}
