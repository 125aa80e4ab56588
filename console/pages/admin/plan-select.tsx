import { useAdminRead } from "../../api/admin.ts";
import { inputLook } from "../../parts/field.tsx";
import { text } from "./strings.ts";

/** Chooses the plan of an owner. */
export function PlanSelect({
  owner,
  plan,
  onChoose,
}: {
  readonly owner: string;
  readonly plan: string;
  readonly onChoose: (plan: string) => void;
}) {
  const plans = useAdminRead("adminListPlans", {});
  return (
    <select
      aria-label={`${text.plan}: ${owner}`}
      className={`${inputLook} max-w-40`}
      value={plan}
      onChange={(event) => onChoose(event.target.value)}
    >
      {(plans.data?.data ?? [{ name: plan }]).map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
