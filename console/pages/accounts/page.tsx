import { Page } from "../../parts/page.tsx";
import { text } from "./strings.ts";

export function AccountsPage() {
  return <Page title={text.title}>{null}</Page>;
}
