import type { ComponentResource } from "../../crds/component.ts";
import { madeForGeneration, type Resource } from "../../crds/resource.ts";
import { checkComponentCode, type ComponentCode } from "../../domain/component/component-code.ts";
import { HeadwaterError, LimitExceeded } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";
import type { Blocked, ConfiguredReason } from "./blocked.ts";

/** The code for a component of its own, or why there is none. */
export type OwnCode<Reason extends string = ConfiguredReason> = { readonly code: ComponentCode } | { readonly blocked: Blocked<Reason> };

/** Code in the spec of a source or step. Omits absent fields, as a spec does. */
export function asWritten({ code, entry, files }: ComponentCode): { readonly code: ComponentCode } {
  return { code: { code, ...(entry === undefined ? {} : { entry }), ...(files === undefined ? {} : { files }) } };
}

/** The code at a URL, which is read once per generation of the maker. */
export async function readUrl(
  url: string,
  {
    maker,
    component,
    owner,
  }: { readonly maker: Resource; readonly component: ComponentResource | undefined; readonly owner: string | undefined },
  { fetchComponent }: Pick<OperatorPorts, "fetchComponent">,
): Promise<OwnCode> {
  if (component?.spec.url === url && isOfGeneration(component, maker)) return asWritten(component.spec);
  return readElsewhere(url, "CodeNotRead", () => fetchComponent(url, owner));
}

/** Was the code of the component read for this generation of its maker? */
export function isOfGeneration(component: ComponentResource, { metadata }: Resource): boolean {
  return component.metadata.annotations[madeForGeneration] === String(metadata.generation);
}

/** @param absent reason when it does not exist there */
export async function readElsewhere<Reason extends string>(
  where: string,
  absent: Reason,
  read: () => Promise<ComponentCode>,
): Promise<OwnCode<Reason | "CodeNotRead" | "CodeInvalid">> {
  try {
    const code = await read();
    if (code.code === "") return { blocked: blocked("CodeInvalid", `${where} is empty: expected the code of a component`) };
    checkComponentCode(code);
    return { code };
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    if (error instanceof LimitExceeded) return { blocked: blocked("CodeInvalid", `in ${where}: ${error.message}`) };
    return { blocked: blocked(error.status === 404 ? absent : "CodeNotRead", error.message) };
  }
}

/** The code is stored elsewhere and can change there, also to correct an error. */
function blocked<Reason extends string>(reason: Reason, message: string): Blocked<Reason> {
  return { reason, message, transient: reason !== "CodeInvalid", poll: true };
}
