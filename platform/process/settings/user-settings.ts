import { z } from "zod";
import { optionalSetting, setting, wholeNumber } from "./settings.ts";

const ownerId = z.string().regex(/^[uo]_[0-9a-z]{1,57}$/, "must be the id of a user (u_…) or an organization (o_…)");

/** What users and owners may use of the API. */
export const userSettings = {
  HEADWATER_STREAMS_PER_USER: setting(wholeNumber(1, 100_000), {
    unit: "number",
    default: "1000",
    reason: "max open live streams of one user with all keys, per API process; more are refused with 429",
  }),
  HEADWATER_STORED_RESOURCES: setting(wholeNumber(1, 10_000_000), {
    unit: "number",
    default: "20000",
    reason: "max resources that one owner stores by the API; more are refused with 429",
  }),
  HEADWATER_STORED_MEBIBYTES: setting(wholeNumber(1, 1_000_000), {
    unit: "number",
    default: "256",
    reason: "max MiB of components, workflows and other resources that one owner stores by the API",
  }),
  HEADWATER_SHARED_APPS_OWNER: optionalSetting(ownerId, {
    unit: "id",
    reason: "owner whose apps and OAuth clients count for all owners; unset: each owner has only its own",
  }),
};

type UserEnvironment = z.output<z.ZodObject<typeof userSettings>>;

export const limitsOfUsers = (env: UserEnvironment) => ({
  /** Undefined: none. */
  sharedAppsOwner: env.HEADWATER_SHARED_APPS_OWNER,
  streamsPerUser: env.HEADWATER_STREAMS_PER_USER,
  ownerStorage: { resources: env.HEADWATER_STORED_RESOURCES, bytes: env.HEADWATER_STORED_MEBIBYTES * 2 ** 20 },
});
