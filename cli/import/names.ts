/** A name of a resource for each workflow: its slug, with a number if another one has it. */
export function resourceNames(slugs: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return slugs.map((slug) => {
    const base =
      slug
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .slice(0, 55)
        .replaceAll(/^-+|-+$/g, "") || "workflow";
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
    taken.add(name);
    return name;
  });
}
