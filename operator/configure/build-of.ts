import type { ComponentResource } from "../../crds/component.ts";
import type { Build } from "../../domain/component/definition.ts";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";
import { currentBuild } from "../configured/component.ts";

/** The component's build. @throws InvalidInput when it cannot be built, Unavailable when it is not built yet */
export function buildOf(component: ComponentResource): Build {
  const build = currentBuild(component);
  if (build !== undefined) return build;
  const stalled = component.status.conditions?.find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled === undefined) throw new Unavailable("the component is not built yet: try again", { code: "component_not_built" });
  throw new InvalidInput(`the component cannot be built: ${stalled.message}`, { code: "component_failed" });
}
