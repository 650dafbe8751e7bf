package com.example;

import io.temporal.common.converter.CodecDataConverter;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DefaultDataConverter;
import io.temporal.payload.codec.OkHttpRemoteDataEncoderCodec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import okhttp3.OkHttpClient;

/** The codec server, for a program that has a token and no key. */
final class CodecServer {
  private final String url;
  private final OkHttpClient http;

  CodecServer(String url, String namespace, Path tokenFile) {
    this.url = url;
    this.http =
        new OkHttpClient.Builder()
            .addInterceptor(
                chain ->
                    chain.proceed(
                        chain
                            .request()
                            .newBuilder()
                            // Read at each call: a token is renewed in its file.
                            .header("Authorization", "Bearer " + Files.readString(tokenFile).strip())
                            .header("X-Namespace", namespace)
                            .build()))
            .build();
  }

  /** Encrypts and decrypts payloads, those of failures too. */
  DataConverter dataConverter() {
    return new CodecDataConverter(
        DefaultDataConverter.newDefaultInstance(), List.of(new OkHttpRemoteDataEncoderCodec(http, url)), true);
  }

  void close() {
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
  }
}
