package com.example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateStage;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

/**
 * Starts a journey, passes its gate, sends consents and waits for the end:
 *
 * <pre>mvn -q compile exec:java -Dexec.args="journey.json consent-1a.json consent-2a.json"</pre>
 */
public final class RunJourney {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] files) throws Exception {
    String namespace = System.getenv("TEMPORAL_NAMESPACE");
    // A codec server that is known by its path, as in development, takes an empty token.
    Path tokenFile = Path.of(System.getenv().getOrDefault("CODEC_SERVER_TOKEN_FILE", "/dev/null"));
    var codecServer = new CodecServer(System.getenv("CODEC_SERVER_URL"), namespace, tokenFile);
    WorkflowServiceStubs service =
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder().setTarget(System.getenv("TEMPORAL_ADDRESS")).build());
    WorkflowClient client =
        WorkflowClient.newInstance(
            service,
            WorkflowClientOptions.newBuilder()
                .setNamespace(namespace)
                .setDataConverter(codecServer.dataConverter())
                .build());
    try {
      System.out.println(JSON.writeValueAsString(run(client, files)));
    } finally {
      service.shutdownNow();
      codecServer.close();
    }
  }

  private static Map<String, JsonNode> run(WorkflowClient client, String[] files) throws Exception {
    JsonNode journey = read(files[0]);
    String journeyId = journey.get("journeyId").textValue();
    WorkflowStub run = client.newUntypedWorkflowStub("lendingJourney", options("journey-" + journeyId));
    run.start(journey);

    // Fails with a WorkflowUpdateException where the journey refuses it: its cause says UpdateRefused, and why.
    JsonNode answer =
        run.startUpdate(
                UpdateOptions.newBuilder(JsonNode.class)
                    .setUpdateName("advance")
                    // This message's own id, which the SDK keeps where it repeats the call.
                    .setUpdateId("advance-PREAPP-1-" + UUID.randomUUID())
                    .setWaitForStage(WorkflowUpdateStage.COMPLETED)
                    .build(),
                Map.of("journeyId", journeyId, "to", "PREAPP"))
            .getResult();

    for (int index = 1; index < files.length; index++) System.err.println(sendConsent(client, read(files[index])));

    // A long poll: it returns when the journey ends, be it in weeks.
    JsonNode result = run.getResult(JsonNode.class);
    return Map.of("answer", answer, "result", result);
  }

  /**
   * Without an open journey, a consent goes to the ledger by a workflow of its own. Says what became of it, with the
   * problems of one that the ledger refuses.
   */
  private static String sendConsent(WorkflowClient client, JsonNode consent) {
    String journeyId = consent.get("journeyId").textValue();
    try {
      client.newUntypedWorkflowStub("journey-" + journeyId).signal("consent", consent);
      return "sent: what the journey refuses is in its status";
    } catch (WorkflowNotFoundException ended) {
      // 16 random hex digits: the message's own id.
      String id = "late-consent-" + journeyId + "-" + String.format("%016x", UUID.randomUUID().getLeastSignificantBits());
      WorkflowOptions lateOptions =
          WorkflowOptions.newBuilder(options(id))
              .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
              .build();
      WorkflowStub late = client.newUntypedWorkflowStub("recordLateConsent", lateOptions);
      late.start(Map.of("consent", consent));
      JsonNode recorded = late.getResult(JsonNode.class);
      if (recorded.has("problems")) {
        return "refused: " + recorded.get("problems");
      }
      return recorded.has("unmatched")
          ? "kept: the ledger does not know this " + recorded.get("unmatched").textValue()
          : "recorded";
    }
  }

  /** What is running is found again, what has completed is never run twice. */
  private static WorkflowOptions options(String workflowId) {
    return WorkflowOptions.newBuilder()
        .setTaskQueue(System.getenv("TASK_QUEUE"))
        .setWorkflowId(workflowId)
        .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
        .setWorkflowIdConflictPolicy(WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING)
        .build();
  }

  private static JsonNode read(String file) throws IOException {
    return JSON.readTree(Path.of(file).toFile());
  }
}
