import { graphlib, layout } from "@dagrejs/dagre";
import { Background, Controls, ReactFlow, type Edge, type Node } from "@xyflow/react";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Subscription } from "../../../client/generated/operations.ts";
import { clip } from "../../parts/format.ts";
import { pageOf } from "./names.ts";
import { text } from "./strings.ts";
import "@xyflow/react/dist/style.css";

interface GraphProps {
  readonly subscriptions: readonly Subscription[];
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (subscription: Subscription) => void;
}

const node = { width: 180, height: 44 } as const;
const maxNameLength = 40;

/** Who feeds whom, from left to right. A node leads to its page; a click on an edge asks whether to remove it. */
export default function SubscriptionGraph({ subscriptions, names, onChoose }: GraphProps) {
  const navigate = useNavigate();
  const { nodes, edges } = useMemo(() => arrange(subscriptions, names), [subscriptions, names]);
  return (
    <div className="h-[60dvh] min-h-80 rounded-lg border border-line bg-surface" role="group" aria-label={text.graph}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        fitView
        colorMode={document.documentElement.dataset["theme"] === "dark" ? "dark" : "light"}
        nodesDraggable={false}
        nodesConnectable={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_event, { id }) => {
          const page = pageOf(id);
          if (page !== undefined) void navigate({ to: page, params: { id } as never }); // Cannot fail.
        }}
        onEdgeClick={(_event, { id }) => {
          const subscription = subscriptions.find((each) => each.id === id);
          if (subscription !== undefined) onChoose(subscription);
        }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function arrange(subscriptions: readonly Subscription[], names: ReadonlyMap<string, string>): { nodes: Node[]; edges: Edge[] } {
  const known = subscriptions.filter(
    (each): each is Subscription & { readonly emitter_id: string; readonly listener_id: string } =>
      each.emitter_id !== null && each.listener_id !== null,
  );
  const graph = new graphlib.Graph({ multigraph: true })
    .setGraph({ rankdir: "LR", nodesep: 24, ranksep: 96 })
    .setDefaultEdgeLabel(() => ({}));
  const ids = [...new Set(known.flatMap(({ emitter_id: emitter, listener_id: listener }) => [emitter, listener]))];
  for (const id of ids) graph.setNode(id, { ...node });
  for (const { id, emitter_id: emitter, listener_id: listener } of known) graph.setEdge(emitter, listener, {}, id);
  layout(graph);
  return {
    nodes: ids.map((id) => {
      const { x, y } = graph.node(id) as { readonly x: number; readonly y: number }; // Set by the layout.
      return {
        id,
        position: { x: x - node.width / 2, y: y - node.height / 2 },
        data: { label: clip(names.get(id) ?? id, maxNameLength) },
        style: { width: node.width },
        sourcePosition: "right",
        targetPosition: "left",
      } as Node; // Positions are literal texts.
    }),
    edges: known.map(({ id, emitter_id: source, listener_id: target, event_name: channel }) => ({
      id,
      source,
      target,
      ariaLabel: text.removeOf(names.get(source) ?? source, names.get(target) ?? target),
      ...(channel === "" ? {} : { label: clip(channel, maxNameLength) }),
    })),
  };
}
