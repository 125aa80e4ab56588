import { Navigate, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { TextLink } from "./button.tsx";

/** The page of a trace. Pages of their own are not known to the types of parts. */
const pageOf = (id: string) => ({ to: "/traces/$id", params: { id } as never }) as const;

interface TraceLinkProps {
  /** Of a run, an event or a delivery, as `GET /traces/{id}` takes it. */
  readonly id: string;
  readonly className?: string;
  readonly children?: ReactNode;
}

export const TraceLink = ({ id, className, children = id }: TraceLinkProps) => (
  <TextLink {...pageOf(id)} {...(className !== undefined && { className })}>
    {children}
  </TextLink>
);

/** Opens the trace of a run, an event or a delivery. */
export function useOpenTrace(): (id: string, search?: Readonly<Record<string, string>>) => void {
  const navigate = useNavigate();
  return (id, search = {}) => void navigate({ ...pageOf(id), search: search as never }); // Cannot fail: the page exists.
}

/** In place of an address that showed a run before runs had traces. */
export const ToTrace = ({ id }: { readonly id: string }) => <Navigate {...pageOf(id)} replace />;
