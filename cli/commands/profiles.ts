import type { Definition } from "../command.ts";
import { usageFailure } from "../failure.ts";
import { listStored, openProfile } from "../profile/find.ts";
import { readConfig, writeConfig } from "../profile/config-file.ts";

export const command: Definition = {
  description:
    "Lists stored profiles and marks the one that is used here: the first of --profile, HEADWATER_URL, the current stored profile, " +
    "the instance of this directory, the cluster of kubectl's current context.",
  examples: [{ command: "hw profiles", does: "Show which installation commands talk to." }],
  operations: [],
  isOffline: true,
  subcommands: [
    {
      name: "use",
      summary: "make a stored profile the current one",
      arguments: [{ name: "<name>", description: "name of a stored profile", completes: "profile" }],
      examples: [{ command: "hw profiles use work", does: "Use the profile work from now on." }],
      operations: [],
      isOffline: true,
      run: async ({ env, out }, given) => {
        const name = given.required("name");
        const { profiles } = await listStored(env);
        if (!profiles.some((profile) => profile.name === name))
          throw usageFailure(`there is no profile "${name}"`, "`hw profiles` lists them");
        await writeConfig(env, { ...(await readConfig(env)), current: name });
        await out.done({ data: { name } }, `profile ${name} is the current one`);
      },
    },
  ],
  run: async ({ env, out, directory, profileName }) => {
    const stored = await listStored(env);
    const used = await openProfile({ env, directory, profileName }).catch(() => undefined);
    await used?.close();
    const found =
      used === undefined || stored.profiles.some(({ name, origin }) => name === used.profile.name && origin === used.profile.origin)
        ? []
        : [used.profile];
    const data = [...found, ...stored.profiles].map(({ name, url, org, origin }) => {
      return { name, url, org: org ?? null, origin, used: name === used?.profile.name && origin === used.profile.origin };
    });
    await out.list(
      { data },
      [
        { header: "USED", value: ({ used: isUsed }) => (isUsed ? "*" : "") },
        { header: "NAME", value: ({ name }) => name, isWhole: true },
        { header: "URL", value: ({ url }) => url },
        { header: "ORG", value: ({ org }) => org ?? "-" },
        { header: "ORIGIN", value: ({ origin }) => origin },
      ],
      ({ name }) => name,
    );
  },
};
