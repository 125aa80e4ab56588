import { useState } from "react";
import type { Webhook } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import { ErrorNotice } from "../../parts/notices.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";

const hourMs = 3_600_000;
const ranges = { all: undefined, hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const;
type Range = keyof typeof ranges;
const names = Object.keys(ranges) as readonly Range[];

interface RedriveDialogProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

/** Sends dead letters again, all or the newest, after showing how many they are. */
export function RedriveDialog({ webhook, onClose }: RedriveDialogProps) {
  const [openedAt] = useState(() => Date.now());
  const [range, setRange] = useState<Range>("all");
  const ageMs = ranges[range];
  const path = { id: webhook.id };
  const body = ageMs === undefined ? {} : { since_ms: openedAt - ageMs };
  const count = useRead("redriveDeadLetters", { path, body: { ...body, dry_run: true } });
  const redrive = useChange("redriveDeadLetters", {
    invalidates: ["listDeadLetters", "listAttempts", "redriveDeadLetters"],
    onDone: ({ data }) => {
      showToast(text.redriven(data.queued));
      onClose();
    },
  });
  // A count of another range, or of an earlier time, is not what the button would send.
  const matching = count.isFetching ? undefined : count.data?.data.matching;
  const failed = redrive.error === null ? text.countFailed : text.redriveFailed;
  const error = redrive.error ?? count.error;
  return (
    <Dialog title={text.redriveTitle} isOpen onClose={onClose}>
      <SelectField
        label={text.died}
        value={range}
        options={names.map((name) => [name, text.redriveRanges[name]])}
        onChange={({ target }) => setRange(names.find((each) => each === target.value) ?? "all")}
      />
      <p role="status" className="text-sm">
        {matching === undefined ? text.counting : text.redriveCount(formatCount(matching), webhook.name ?? webhook.url)}
      </p>
      <p className="text-sm text-muted">{text.redriveHint}</p>
      {error !== null && <ErrorNotice title={failed} error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{text.cancel}</Button>
        <Button
          kind="primary"
          disabled={matching === undefined || matching === 0 || redrive.isPending}
          onClick={() => redrive.mutate({ path, body })}
        >
          {text.redriveSome(matching ?? 0)}
        </Button>
      </div>
    </Dialog>
  );
}
