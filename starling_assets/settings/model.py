"""The settings model: sections, types, defaults and what each key means.

Sources, later ones win: the defaults below, ``starling.toml``, environment variables named after the key's path
(``STARLING_LLM_BASE_URL`` is ``llm.base_url``). Unknown keys are refused (F39).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from .endpoints import LlmSettings


class Section(BaseModel):
    """A table of ``starling.toml``; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LiteratureSettings(Section):
    """Bounds for untrusted files and what may be ingested."""

    papers_per_shard: int = Field(10_000, ge=1, description="most papers one shard holds")
    max_xml_bytes: int = Field(256_000_000, description="largest XML document after decompression")
    max_depth: int = Field(256, description="deepest element nesting accepted")
    pdf_seconds: float = Field(60.0, description="wall clock per PDF file")
    pdf_memory_bytes: int = Field(1_500_000_000, description="address space of the child process that reads a PDF")
    pdf_pages: int = Field(400, description="most pages read of one PDF")
    ocr_engine: Literal["none", "tesseract", "rapidocr", "dots"] | None = Field(
        None, description="reads pages without a sound text layer; empty means Tesseract where it is installed"
    )
    ocr_languages: str = Field(
        "eng", pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$", description="languages of scanned pages, as Tesseract names them"
    )
    ocr_dpi: int = Field(300, ge=72, le=600, description="resolution at which Tesseract and RapidOCR see a page")
    ocr_pixels: int = Field(30_000_000, ge=10_000, description="most pixels of a page's picture")
    ocr_seconds: float = Field(300.0, gt=0, description="wall clock per page of Tesseract and RapidOCR")
    ocr_output_tokens: int = Field(12_000, ge=256, description="cap of one reply of the dots.ocr model")
    ocr_prompt: Path | None = Field(None, description="text file that replaces the packaged instruction for dots.ocr")
    chunk_paragraphs: int = Field(5, ge=1, description="paragraphs in an embedding chunk")
    chunk_stride: int = Field(3, ge=1, description="paragraphs between the starts of two chunks")
    licences: list[str] = Field(
        [
            "CC0",
            "CC-BY",
            "CC-BY-SA",
            "CC-BY-NC",
            "CC-BY-NC-SA",
            "CC-BY-ND",
            "CC-BY-NC-ND",
            "PUBLISHER-OPEN",
            "AUTHOR-MANUSCRIPT",
            "US-GOV",
            "UNKNOWN",
        ],
        description="licence classes that may be ingested",
    )


class TaggingSettings(Section):
    """Who tags, and the vocabularies."""

    engine: Literal["dictionary", "encoder", "student", "teacher"] = Field(
        "encoder",
        description="who tags: the vocabulary alone, the small encoder, a model in one pass, a model per entity type",
    )
    lexicon_dir: Path | None = Field(None, description="folder of ontology releases; empty means the bundled subset")
    window_paragraphs: int = Field(3, ge=1, description="paragraphs in a tagging window")
    max_window_tokens: int = Field(900, ge=64, description="a tagging window is cut above this many tokens")
    max_output_tokens: int = Field(1_500, ge=64, description="cap of one reply of a tagging model")
    max_cost: float | None = Field(None, ge=0, description="US dollars that tagging one shard by a model may cost")
    validated_entities: int = Field(1_000, ge=1, description="frequent entities per type held against the ontology")
    validation_candidates: int = Field(10, ge=1, le=10, description="ontology entries each of them is held against")
    validation_batch: int = Field(8, ge=1, le=12, description="entities validated in one call")
    overlay: bool = Field(False, description="add validated names to the vocabulary that tags and links are made with")
    training_papers: int = Field(50_000, ge=1, description="most papers of a tagger's training set")
    min_name_length: int = Field(3, description="shorter names match only when written exactly as in the vocabulary")
    opsin: bool = Field(True, description="turn chemical names into structures with OPSIN when Java is present")


class RetrievalSettings(Section):
    """Filters, vectors and ranking."""

    expansion_cap: int = Field(50_000, description="most concepts a term expands to before it is marked truncated")
    expansion_depth: int = Field(12, description="levels of narrower concepts")
    weight_hits: float = Field(1.0, description="weight of the share of probes a paper satisfies")
    weight_mean: float = Field(1.0, description="weight of the mean similarity over all probes' queries")
    weight_max: float = Field(1.0, description="weight of the maximum similarity")
    exact_below: float = Field(0.1, description="selectivity under which allowed vectors are scored exactly")
    overfetch: int = Field(4, description="factor of the over-fetch plan")


class ExtractionSettings(Section):
    """Windows, budget and de-duplication."""

    window_paragraphs: int = Field(5, ge=1, description="paragraphs in an extraction window")
    max_window_tokens: int = Field(1_200, description="a window is cut into smaller ones above this many tokens")
    max_windows: int | None = Field(None, description="most windows read per task and shard, in rank order")
    max_output_tokens: int = Field(700, description="cap of one extraction reply")
    judge_batch: int = Field(4, ge=1, description="records judged in one call")
    judge_output_tokens: int = Field(500, description="cap of one judge reply")
    max_cost: float | None = Field(None, description="US dollars one run of a stage may cost per task and shard")
    fuzzy_quote: float = Field(0.92, ge=0.5, le=1.0, description="similarity from which a quote still counts as found")


class AutomationSettings(Section):
    """Sensors and automatic runs."""

    inbox: Path = Field(Path("inbox"), description="drop folder, relative to the home folder")
    interval_seconds: int = Field(10, ge=1, description="seconds between two looks at the drop folder")
    settle_seconds: float = Field(2.0, ge=0, description="a file is taken once its size has not changed for this long")
    attempts: int = Field(3, ge=1, description="runs started for a partition before it is reported as failing")


class ServeSettings(Section):
    """Where the UI listens."""

    host: str = Field("127.0.0.1", description="address of the UI; loopback unless told otherwise")
    port: int = Field(3000, ge=1, le=65_535, description="port of the UI")


class ClusterSettings(Section):
    """Addresses of the cluster profile's stores and the shapes of its GPU jobs."""

    clickhouse_url: str = Field(
        "", description="http://user@host:8123/database; the password comes from the environment"
    )
    clickhouse_password: SecretStr = SecretStr("")
    milvus_uri: str = Field("", description="http://host:19530")
    milvus_token: SecretStr = SecretStr("")
    namespace: str = Field("starling", description="Kubernetes namespace of the step pods")
    vllm_image: str = Field("vllm/vllm-openai:v0.33.0", description="image of the model sidecar")
    gpus: int | None = Field(None, ge=1, description="GPUs of one model server; empty means what its role needs")
    gpu_node_selector: dict[str, str] = Field({"nvidia.com/gpu.present": "true"})
    job_deadline_seconds: int = Field(6 * 3600, ge=60, description="a GPU step is stopped after this long")


class Settings(Section):
    """All settings of a project."""

    profile: Literal["embedded", "cluster"] = Field("embedded", description="one machine, or a cluster")
    home: Path = Field(Path(".starling"), description="folder of everything the project makes")
    tasks_dir: Path | None = Field(None, description="folder of own task folders, beside the packaged ones")
    llm: LlmSettings = LlmSettings()
    literature: LiteratureSettings = LiteratureSettings()
    tagging: TaggingSettings = TaggingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    automation: AutomationSettings = AutomationSettings()
    serve: ServeSettings = ServeSettings()
    cluster: ClusterSettings = ClusterSettings()

    @property
    def store_root(self) -> Path:
        """Folder of the artifact tables."""
        return self.home / "store"

    @property
    def inbox(self) -> Path:
        """The watched drop folder."""
        return self.home / self.automation.inbox

    @property
    def dagster_home(self) -> Path:
        """DAGSTER_HOME of the project's instance."""
        return self.home / "dagster"

    @property
    def ledger_dir(self) -> Path:
        """Folder of the model-call ledger."""
        return self.home / "ledger"

    @property
    def models_dir(self) -> Path:
        """Folder of downloaded weights and of the local model server's state."""
        return self.home / "models"
