/**
 * What happens where the kernel cannot confine processes that handle others' code. `auto`: they run without a jail, with a warning.
 * `required`: then none starts. `off`: none is tried.
 */
export const jailModes = ["auto", "required", "off"] as const;
export type JailMode = (typeof jailModes)[number];
