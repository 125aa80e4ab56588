import type { Answered } from "../http/response/answered.ts";
import type { Organization, OwnerEmail } from "./ports.ts";
import type { emailConfirmationSchema } from "./schemas.ts";

export const organizationFields = ({ name, id, orgname, email, isEmailConfirmed }: Organization & OwnerEmail) => ({
  name,
  id,
  orgname,
  email,
  email_confirmed: isEmailConfirmed,
});

export const emailResponse = ({ email, isEmailConfirmed }: OwnerEmail): Answered<typeof emailConfirmationSchema> => ({
  email,
  email_confirmed: isEmailConfirmed,
});
