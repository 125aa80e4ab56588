import { usageFailure } from "../failure.ts";

/** A package that a person names, with or without `npm:`. @throws Failure */
export function npmPackage(text: string): { readonly name: string; readonly version: string | undefined } {
  const [, name, version] = /^(?:npm:)?((?:@[^/@\s#]+\/)?[^/@\s#]+)(?:@([^/#]+))?$/.exec(text) ?? [];
  if (name === undefined) throw usageFailure(`"${text}" is no package of npm`, "name it as npm:<package> or npm:<package>@<version>");
  return { name, version };
}

/** The version or range in an address of npm; undefined: the latest. */
export function rangeIn(address: string): string | undefined {
  return /^npm:(?:@[^/@]+\/)?[^/@#]+@([^/#]+)/.exec(address)?.[1];
}
