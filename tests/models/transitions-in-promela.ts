import { beginnings, paymentTransitions, type PaymentStatus } from "../../src/domain/payment/transitions";

/** The published tables as `models/engine.pml` takes them, so that the model cannot drift from the code. */
export function transitionsInPromela(): string {
  const statuses = Object.keys(paymentTransitions) as PaymentStatus[];
  const edges = statuses.flatMap((from) =>
    Object.entries(paymentTransitions[from]).map(([by, to]) => ({ from, by, to })),
  );
  const kinds = Object.keys(beginnings) as (keyof typeof beginnings)[];
  const begins = kinds.flatMap((kind) =>
    statuses.filter((status) => beginnings[kind][status] === "ok").map((status) => ({ kind, status })),
  );
  const transitions = [...new Set(edges.map(({ by }) => by))];
  return `/* From src/domain/payment/transitions.ts. */
mtype:status = { ${statuses.map(statusName).join(", ")} }
mtype:transition = { ${transitions.map(transitionName).join(", ")} }
mtype:kind = { ${kinds.map(kindName).join(", ")} }

/* Where a transition leads. What is not in the table cannot happen. */
inline after(from_, by_, to_next) {
  if
${edges.map(({ from, by, to }) => `  :: from_ == ${statusName(from)} && by_ == ${transitionName(by)} -> to_next = ${statusName(to)}`).join("\n")}
  :: else -> printf("no such transition\\n"); assert(false)
  fi
}

/* Whether a movement may begin in a status. */
inline allowed(what_, from_, answer_) {
  answer_ = ${begins.map(({ kind, status }) => `(what_ == ${kindName(kind)} && from_ == ${statusName(status)})`).join(" || ")}
}
`;
}

const statusName = (status: string): string => `is_${status}`;
const transitionName = (transition: string): string => `by_${transition.replaceAll(/\W/g, "_")}`;
const kindName = (kind: string): string => `to_${kind}`;
