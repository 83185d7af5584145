// A server of one peer: Express 5 and a pool of as many connections as Holdfast has for its store.
import express from "express";
import { createServer } from "node:http";
import { Pool } from "pg";
import { PostgresGatewayLedger } from "../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { SimulatedGateway } from "../../src/infrastructure/gateways/simulated/simulated-gateway";
import { answerParent } from "../load/answer-parent";
import { careful } from "./careful";
import { inside } from "./inside";
import type { Peer } from "./peer";
import { short } from "./short";

const CONNECTIONS = 10;
const peers: Readonly<Record<string, Peer>> = { careful, short, inside };

async function main(name = "", url = ""): Promise<void> {
  const peer = peers[name];
  if (peer === undefined) throw new Error(`there is no peer ${name}`);
  const pool = new Pool({ connectionString: url, max: CONNECTIONS });
  const gateway = new SimulatedGateway({
    ledger: await PostgresGatewayLedger.open(url),
    clock: { now: () => new Date() },
    timeoutMs: 100,
  });
  const capture = peer(pool, gateway);
  const app = express();
  app.use(express.json());
  app.post("/payments/:paymentId/capture", async (request, response) => {
    const key = request.get("Idempotency-Key");
    if (key === undefined) return void response.status(400).json({ error: "idempotency_key_missing" });
    const { status, body } = await capture({ paymentId: request.params.paymentId, key });
    response.status(status).type("json").send(body);
  });
  answerParent(createServer(app));
}

void main(...process.argv.slice(2));
