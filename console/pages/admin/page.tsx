import { Page } from "../../parts/page.tsx";
import { text } from "./strings.ts";

export function AdminPage() {
  return <Page title={text.title}>{null}</Page>;
}
