// Answers a capture's bytes and does nothing else.
import express from "express";
import { createServer } from "node:http";
import { publicOperation, publicPayment } from "../../src/application/public-events/public-payment";
import { capturedOnce } from "../store/captured-once";
import { answerParent } from "./answer-parent";

async function main(): Promise<void> {
  const { operation, payment } = await capturedOnce();
  const bytes = JSON.stringify({ capture: publicOperation(operation), payment: publicPayment(payment) });
  const app = express();
  app.post("/payments/:paymentId/capture", (_request, response) => {
    response.status(201).setHeader("Content-Type", "application/json; charset=utf-8");
    response.end(bytes);
  });
  answerParent(createServer(app));
}

void main();
