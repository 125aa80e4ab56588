import type { Service } from "../contract.ts";
import { bearerServices } from "./bearer.ts";
import { formServices } from "./forms.ts";
import { googleServices } from "./google.ts";
import { keyServices } from "./keys.ts";
import { otherServices } from "./others.ts";
import { shopServices } from "./shops.ts";

export const services: readonly Service[] = [
  ...googleServices,
  ...bearerServices,
  ...keyServices,
  ...formServices,
  ...shopServices,
  ...otherServices,
];
