import { useState, type FormEvent } from "react";
import { useAdminChange, useAdminRead } from "../../api/admin.ts";
import { showToast } from "../../app/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { TextField } from "../../parts/field.tsx";
import { formatCount, formatDuration } from "../../parts/format.ts";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SimpleTable } from "../../parts/simple-table.tsx";
import { text } from "./strings.ts";

export function PlansTab() {
  const plans = useAdminRead("adminListPlans", {});
  return (
    <>
      <Section title={text.tabs.plans}>
        <Loaded isLoading={plans.isPending} error={plans.error} retry={() => void plans.refetch()}>
          <SimpleTable
            label={text.tabs.plans}
            head={[text.name, text.invocations, text.computeTime, text.weight, text.delete]}
            rows={(plans.data?.data ?? []).map((plan) => [
              plan.name,
              plan.daily_invocations_quota === null ? text.noLimit : formatCount(plan.daily_invocations_quota),
              plan.daily_compute_time_quota === null ? text.noLimit : formatDuration(plan.daily_compute_time_quota),
              String(plan.weight),
              <DeletePlan key={plan.name} name={plan.name} />,
            ])}
          />
        </Loaded>
      </Section>
      <Section title={text.newPlan}>
        <SavePlan />
      </Section>
    </>
  );
}

function DeletePlan({ name }: { readonly name: string }) {
  const remove = useAdminChange("adminDeletePlan", () => showToast(text.deleted(name)));
  return (
    <DeleteButton
      label={text.delete}
      name={name}
      action={text.delete}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ path: { name } })}
    >
      {text.deletePlan}
    </DeleteButton>
  );
}

const quotaOf = (typed: string): number | null => (typed === "" ? null : Number(typed));

function SavePlan() {
  const [name, setName] = useState("");
  const [invocations, setInvocations] = useState("");
  const [computeMs, setComputeMs] = useState("");
  const [weight, setWeight] = useState("1");
  const save = useAdminChange("adminSavePlan", ({ data }) => showToast(text.saved(data.name)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const quotas = { daily_invocations_quota: quotaOf(invocations), daily_compute_time_quota: quotaOf(computeMs) };
    save.mutate({ path: { name }, body: { form: "free", ...quotas, weight: Number(weight) } });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] items-start gap-3">
      <TextField label={text.name} required value={name} onChange={(event) => setName(event.target.value)} />
      <TextField
        label={text.invocations}
        hint={text.quotaHint}
        type="number"
        min={0}
        value={invocations}
        onChange={(event) => setInvocations(event.target.value)}
      />
      <TextField
        label={text.computeTime}
        hint={text.quotaHint}
        type="number"
        min={0}
        value={computeMs}
        onChange={(event) => setComputeMs(event.target.value)}
      />
      <TextField
        label={text.weight}
        type="number"
        min={1}
        max={100}
        required
        value={weight}
        onChange={(event) => setWeight(event.target.value)}
      />
      <Button type="submit" className="self-center justify-self-start" disabled={save.isPending}>
        {text.save}
      </Button>
      {save.error !== null && <ErrorNotice title={text.createFailed} error={save.error} />}
    </form>
  );
}
