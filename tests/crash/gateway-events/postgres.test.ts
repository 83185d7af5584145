import { describeWithOnePostgres } from "../../support/servers/servers";
import { describeHintCrashes } from "./describe-hint-crashes";

describeWithOnePostgres("servers on PostgreSQL, told by Stripe", (postgres) => {
  describeHintCrashes("PostgreSQL", () => postgres.url);
});
