import type { Endpoint } from "../endpoint";
import { isHealthy } from "./is-healthy";
import { isReady, type ReadinessParts } from "./is-ready";
import { showDocs } from "./show-docs";
import { showDocument, type DocumentParts } from "./show-document";

/** What balancers and readers ask, of every instance. */
export const serviceEndpoints: readonly Endpoint<ReadinessParts & DocumentParts>[] = [
  isHealthy,
  isReady,
  showDocument,
  showDocs,
];
