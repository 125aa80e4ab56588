import { useState, type FormEvent } from "react";
import type { Plan } from "../../../client/generated/operations.ts";
import { useAdminChange, useAdminRead } from "../../api/admin.ts";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { TextField } from "../../parts/field.tsx";
import { formatCount, formatDuration } from "../../parts/format.ts";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SimpleTable } from "../../parts/simple-table.tsx";
import { text } from "./strings.ts";

export function PlansTab() {
  const [changed, setChanged] = useState<Plan>();
  const plans = useAdminRead("adminListPlans", {});
  return (
    <>
      <Section title={text.tabs.plans}>
        <Loaded isLoading={plans.isPending} error={plans.error} retry={() => void plans.refetch()}>
          <SimpleTable
            label={text.tabs.plans}
            head={[text.name, text.invocations, text.computeTime, text.weight, text.change, text.delete]}
            rows={(plans.data?.data ?? []).map((plan) => [
              plan.name,
              plan.daily_invocations_quota === null ? text.noLimit : formatCount(plan.daily_invocations_quota),
              plan.daily_compute_time_quota === null ? text.noLimit : formatDuration(plan.daily_compute_time_quota),
              String(plan.weight),
              <Button key="change" aria-label={`${text.change}: ${plan.name}`} onClick={() => setChanged(plan)}>
                {text.change}
              </Button>,
              <DeletePlan key={plan.name} name={plan.name} />,
            ])}
          />
        </Loaded>
      </Section>
      <Section
        title={changed === undefined ? text.newPlan : text.changePlan(changed.name)}
        actions={changed !== undefined && <Button onClick={() => setChanged(undefined)}>{text.newPlan}</Button>}
      >
        <SavePlan key={changed?.name ?? ""} plan={changed} />
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

const typedOf = (quota: number | null | undefined): string => (quota === null || quota === undefined ? "" : String(quota));

/** Creates a plan, or changes one: what the form does not show stays as it is. */
function SavePlan({ plan }: { readonly plan: Plan | undefined }) {
  const [name, setName] = useState(plan?.name ?? "");
  const [invocations, setInvocations] = useState(typedOf(plan?.daily_invocations_quota));
  const [computeMs, setComputeMs] = useState(typedOf(plan?.daily_compute_time_quota));
  const [weight, setWeight] = useState(String(plan?.weight ?? 1));
  const save = useAdminChange("adminSavePlan", ({ data }) => showToast(text.saved(data.name)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const kept = plan === undefined ? { form: "free" as const } : { form: plan.form, max_organizations: plan.max_organizations };
    const quotas = { daily_invocations_quota: quotaOf(invocations), daily_compute_time_quota: quotaOf(computeMs) };
    save.mutate({ path: { name }, body: { ...kept, ...quotas, weight: Number(weight) } });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] items-start gap-3">
      <TextField label={text.name} required readOnly={plan !== undefined} value={name} onChange={(event) => setName(event.target.value)} />
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
