import { useRead } from "../api/queries.ts";
import { inputLook } from "../parts/field.tsx";
import { useSearchParams } from "../parts/search.ts";
import { text } from "./strings.ts";

/** Chooses whose resources the pages show: the user's own, or those of an organization. Shown to members of one. */
export function OwnerSelect() {
  const [{ org = "" }, setSearch] = useSearchParams();
  const me = useRead("getMe", {});
  const organizations = me.data?.data.orgs ?? [];
  if (organizations.length === 0) return null;
  return (
    <select
      aria-label={text.owner}
      value={org}
      onChange={(event) => setSearch({ org: event.target.value || undefined }, { keepsOthers: false })}
      className={inputLook}
    >
      <option value="">{text.personal}</option>
      {organizations.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
