import { derivedToken } from "../component/fingerprint.ts";

/**
 * Id of a step, `c_…`: error events name it as `cellId`. It follows from the names, so a step keeps its id as long as it keeps its name,
 * whatever writes the workflow.
 */
export const stepId = (workflow: string, step: string): string => `c_${derivedToken(`${workflow} ${step}`)}`;

/** Names that steps cannot have: `steps.trigger` is the event that started the run. */
export const triggerStep = "trigger";

/** Steps are read as `steps.<name>`. */
export const stepNamePattern = /^[A-Za-z_$][\w$]{0,62}$/;
